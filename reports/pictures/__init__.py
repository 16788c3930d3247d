"""Pictures as SVG texts, with captions and data: colours that colour-blind readers can tell apart, vectors only."""
