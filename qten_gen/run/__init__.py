"""A run of the generator over a project: what is stale is planned, written and recorded. It prints nothing."""
