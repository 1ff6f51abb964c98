"""Boxes in images, as many in each as there are."""
