"""All claims, in the order of the paper; a module that is not listed here does not exist."""

from __future__ import annotations

from functools import lru_cache
from importlib import import_module

from kappaguard.verify.claims.claim import Claim

FRAMEWORK = ("algebra", "claim", "closed_form", "coefficient", "instance", "registry", "run", "store", "worst")
"""The modules of this folder that hold no claim."""

ROBUSTNESS: tuple[str, ...] = (
    "zero_variance",
    "table_1",
    "cwtm_order_optimal",
    "coordinate_wise",
    "trimmed_mean_sorting",
    "coefficient_cwtm",
    "coefficient_krum",
    "coefficient_gm",
    "coefficient_cwmed",
    "universal_lower_bound",
    "rule_lower_bound",
    "variance_pairwise",
    "kappa_lambda",
    "kappa_aragg",
    "pivot",
    "bias_variance",
    "nnm",
    "nnm_sharp",
    "bucketing_variance",
    "bucketing_fraction",
    "bucketing_size",
    "bucketing_equality",
    "empirical_kappa",
    "closed_form_cwtm",
    "closed_form_cwmed",
    "closed_form_gm",
    "closed_form_meamed",
    "closed_form_mda",
    "closed_form_krum",
    "closed_form_multikrum",
    "closed_form_multikrum_narrow",
)
"""The definition, the coefficients, the lower bounds, the other definitions, NNM and Bucketing."""

CONVERGENCE: tuple[str, ...] = (
    "byzantine_lower_bound",
    "dgd_convergence",
    "dgd_nnm",
    "momentum_drift",
    "aggregation_error",
    "momentum_deviation",
    "descent_bound",
    "dshb_convergence",
    "dshb_nnm",
)
"""Proposition 1, Theorems 1 and 2, their corollaries and the lemmas of D-SHB."""

MODULES = ROBUSTNESS + CONVERGENCE


@lru_cache(maxsize=1)
def claims() -> tuple[Claim, ...]:
    """Every claim; the modules import nothing heavy before a check is run."""
    return tuple(claim for name in MODULES for claim in claims_of(name))


def claims_of(module: str) -> tuple[Claim, ...]:
    """The claims of one module: its CLAIMS, or its one CLAIM."""
    loaded = import_module(f"kappaguard.verify.claims.{module}")
    found: tuple[Claim, ...] = tuple(loaded.CLAIMS) if hasattr(loaded, "CLAIMS") else (loaded.CLAIM,)
    return found
