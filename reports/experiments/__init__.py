"""Experiments of training for people: tables beside the paper's numbers, curves, and how data is split."""
