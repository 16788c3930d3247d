"""The finders: adversaries, attacks, and exact programs; none of them judges what it finds."""
