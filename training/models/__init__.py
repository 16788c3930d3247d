"""Models as functions of one flat parameter vector, with the gradients of many workers at once."""
