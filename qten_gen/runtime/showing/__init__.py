"""How objects and modules look in a notebook: tables that take the colours of the page. README.md says where things are."""
