"""*On the Privacy-Robustness-Utility Trilemma in Distributed Learning* (arXiv 2302.04787): SMEA, and MVA."""

from __future__ import annotations

MODULES: tuple[str, ...] = ("least_spread",)

RESTS_ON: dict[str, tuple[str, ...]] = {}
