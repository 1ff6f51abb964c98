"""A decoder in the shape of GPT-2: declared (`model`), by hand (`plain`), what it reads (`text`), how it learns (`train`)."""
