"""An unknown number of attackers: *Trade-off in Estimating the Number of Byzantine Clients in Federated Learning*
(arXiv 2510.04432), *On the Tension between Byzantine Robustness and No-Attack Accuracy in Distributed Learning* (ICML
2025).

Of both papers their abstracts and summaries were at hand, not their theorems: what is claimed here are their statements
with the best constants.
"""

from __future__ import annotations

MODULES: tuple[str, ...] = ("unknown_f", "any_rule")

RESTS_ON: dict[str, tuple[str, ...]] = {
    "cwtm-unknown-f": ("coordinate-wise",),
    "attackers-lower-bound": ("zero-variance",),
    "price-without-attack": ("attackers-lower-bound", "cwtm-unknown-f"),
}
