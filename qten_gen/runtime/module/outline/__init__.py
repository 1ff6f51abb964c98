"""What a module holds, as a tree of records, and how a notebook shows it."""
