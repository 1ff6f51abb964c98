"""From source texts to generated texts: the plan of a run, the rendering of templates, and both in memory."""
