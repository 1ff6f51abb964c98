"""A small GPT-2: declared (`model`) and written by hand (`plain`), its data set (`text`) and its training loop (`train`)."""
