"""A detector of shapes: declarations (`model`), images (`data`), the training loop (`train`), a picture of boxes (`picture`)."""
