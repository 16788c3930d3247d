"""The data: where it is, how it is read, and how it is split over the workers."""
