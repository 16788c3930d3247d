"""Where the vectors of a round come from: files, random families, data sets, runs. One kind per file."""
