"""The claims: one file per statement, each with an executable check. ``registry`` lists them, ``run`` runs them."""
