"""*Fixing by Mixing: A Recipe for Optimal Byzantine ML under Heterogeneity* (AISTATS 2023), and what it becomes when it
is sharpened or mended.

One module per statement or group of statements, in the order of the paper; a module that is not listed here does not
exist. ``RESTS_ON`` says which claims the proof of a claim uses: if one of them falls, so does its proof.
"""

from __future__ import annotations

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
    "bucketing_expectation",
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
    "closed_form_krum_wide",
    "closed_form_multikrum",
    "closed_form_multikrum_narrow",
    "nnm_median_line",
    "nnm_directions",
    "rotation",
)
"""The definition, the coefficients, the lower bounds, the other definitions, NNM and Bucketing."""

CONVERGENCE: tuple[str, ...] = (
    "minority",
    "byzantine_lower_bound",
    "dgd_convergence",
    "random_output",
    "dgd_nnm",
    "momentum_drift",
    "aggregation_error",
    "momentum_deviation",
    "descent_bound",
    "dshb_convergence",
    "dshb_nnm",
)
"""Proposition 1, Theorems 1 and 2, their corollaries and the lemmas of D-SHB."""

PROSE: tuple[str, ...] = ("cost", "section_6", "experiment_setting")
"""What the paper says about costs and experiments."""

MODULES = ROBUSTNESS + CONVERGENCE + PROSE

RESTS_ON: dict[str, tuple[str, ...]] = {
    "coefficient-cwtm": ("coordinate-wise", "trimmed-mean-sorting", "trimmed-mean-injection-repaired"),
    "coefficient-cwmed": ("coordinate-wise",),
    "table-1": ("coefficient-cwtm", "coefficient-krum", "coefficient-gm", "coefficient-cwmed"),
    "table-1-order": ("table-1",),
    "cwtm-order-optimal": ("coefficient-cwtm", "universal-lower-bound"),
    "coefficients-bounded": ("table-1",),
    "rule-lower-bound": ("rule-lower-bound-even", "rule-lower-bound-odd"),
    "kappa-aragg": ("variance-pairwise",),
    "kappa-aragg-random": ("kappa-aragg",),
    "kappa-aragg-constant-corrected": ("kappa-aragg",),
    "bias-variance": ("variance-pairwise", "pivot"),
    "lemma-1-nnm": ("bias-variance",),
    "nnm-order-optimal": ("lemma-1-nnm", "coefficients-bounded"),
    "lemma-1-nnm-sharp": ("bias-variance-sharp",),
    "nnm-lower-bound": ("zero-variance",),
    "closed-form-nnm-cwtm": ("lemma-1-nnm-sharp", "nnm-lower-bound", "closed-form-cwtm"),
    "closed-form-nnm-cwmed": ("nnm-directions", "nnm-cwmed-line"),
    "lemma-1-nnm-directions": ("nnm-directions",),
    "closed-form-cwtm": ("coordinate-wise", "universal-lower-bound"),
    "closed-form-cwmed": ("coordinate-wise",),
    "closed-form-meamed": ("coordinate-wise", "closed-form-cwmed"),
    "rotation-free": ("closed-form-cwtm", "universal-lower-bound"),
    "exact-price": ("equation-7", "closed-form-cwtm", "proposition-1-improved"),
    "corollary-1": ("theorem-1-corrected", "lemma-1-nnm"),
    "corollary-1-constant-corrected": ("theorem-1-corrected", "lemma-1-nnm-sharp"),
    "aggregation-error-sharp": ("momentum-drift-sharp",),
    "theorem-2": ("momentum-drift", "momentum-deviation", "descent-bound"),
    "theorem-2-improved": ("aggregation-error-sharp",),
    "corollary-2": ("theorem-2", "lemma-1-nnm"),
}
