"""Stages of a pipeline, which are generic over what they take and give."""
