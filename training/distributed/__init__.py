"""Training spread over processes: each hosts some workers, and all coordinates of a few messages never meet."""
