"""The definitions: every rule and pre-aggregation, their names, adapters, the ratio, and what a witness is."""
