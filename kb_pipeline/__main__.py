"""``kb``, also as ``python -m kb_pipeline``."""

from typing import NoReturn

from kb_pipeline.limited.garbage import collect_seldom


def main() -> NoReturn:
    """Run the command line."""
    collect_seldom()  # before the imports below, which take half of a command's time
    from kb_pipeline.cli import main as command_line

    command_line()


if __name__ == "__main__":
    main()
