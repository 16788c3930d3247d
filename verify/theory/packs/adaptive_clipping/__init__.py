"""*Adaptive Gradient Clipping for Robust Federated Learning* (arXiv 2405.14432): ARC in front of a rule."""

from __future__ import annotations

MODULES: tuple[str, ...] = ("arc",)

RESTS_ON: dict[str, tuple[str, ...]] = {
    "arc-three-kappa": ("arc-robust", "universal-lower-bound"),
    "closed-form-arc-cwtm": ("arc-robust", "closed-form-cwtm"),
}
