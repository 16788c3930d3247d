"""Adversaries: anything that chooses inputs. One file each, one interface, see ``base.py``."""
