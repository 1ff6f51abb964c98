"""The process of the command `qten-gen`. It imports nothing at the top: Ctrl-C is answered while the command loads, too."""


def main() -> int:
    """Run the command with the arguments of the process, and return its exit status."""
    try:
        from .command import main as command

        return command()
    except KeyboardInterrupt:
        return 130
