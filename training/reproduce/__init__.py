"""The paper's experiments, cell by cell."""
