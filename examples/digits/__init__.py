"""A small digit classifier: the declarations (`model`), the data set (`data`) and the training loop (`train`)."""
