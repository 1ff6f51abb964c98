"""python -m tests.typing.scoreboard > docs/evidence/typing-scoreboard.md"""

from .page import page

if __name__ == "__main__":
    print(page())
