"""A notebook that was exported as a script, beside the file of its classes."""
