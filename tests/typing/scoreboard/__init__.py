"""What type checkers say of single expressions, ours and those of the peers: docs/evidence/typing-scoreboard.json."""
