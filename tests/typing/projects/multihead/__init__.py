"""A generator, a discriminator with several heads, and handlers in a file of their own."""

from . import handlers as handlers
