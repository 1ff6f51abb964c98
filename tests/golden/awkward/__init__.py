"""Declarations that generated text once got wrong, each as small as it can be."""
