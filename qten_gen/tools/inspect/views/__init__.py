"""What is shown of an inspection: text for terminals, JSON, a page of HTML."""
