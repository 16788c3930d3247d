"""Settings of the paper's experiments, and some of ours, as small TOML files."""
