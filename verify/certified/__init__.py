"""What a certificate has to show, rule by rule, rebuilt from the definition of the rule in exact fractions.

Nothing here knows how a certificate was found: no solver, no search, no code of the rules.
"""
