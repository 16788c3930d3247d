"""Rules as data: what a rule forms, compares, selects and returns."""
