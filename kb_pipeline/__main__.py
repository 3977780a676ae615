"""``kb``, also as ``python -m kb_pipeline``."""

from typing import NoReturn

from kb_pipeline.garbage import collect_seldom


def main() -> NoReturn:
    """Run the command line."""
    collect_seldom()
    from kb_pipeline.cli import main as command_line  # only now, because half of a command's time are imports

    command_line()


if __name__ == "__main__":
    main()
