"""Whole runs: performance-estimation programs, runs to replay in exact arithmetic, and the algebra of the proofs."""
