"""The language server: `qten-gen lsp`."""
