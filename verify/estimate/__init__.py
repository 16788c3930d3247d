"""Empirical kappa: what happens on a stream of inputs, beside what can happen."""
