"""A trainer for any module, with callbacks and settings."""
