"""Packs: the claims of one paper each, a module per statement or group of statements."""
