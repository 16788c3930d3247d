"""What the guard found, for people and for machines: a table, JSON, JUnit, SARIF, annotations of a workflow."""
