"""The convergence theorems against runs: both sides of the bounds, and the rates."""
