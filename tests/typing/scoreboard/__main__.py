"""python -m tests.typing.scoreboard > docs/evidence/typing-scoreboard.json"""

from .measured import document

if __name__ == "__main__":
    print(document())
