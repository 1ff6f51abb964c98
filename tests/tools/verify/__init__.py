"""Models as they were and as they are."""
