"""The atlas: every rule that there is, beside each other."""
