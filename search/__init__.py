"""The finders."""
