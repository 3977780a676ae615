"""What the commands share for printing: results to stdout, everything about them to stderr."""

from rich.console import Console

out = Console(highlight=False)
err = Console(stderr=True, highlight=False)


def explain(exc: Exception) -> None:
    """Say what went wrong, for a person."""
    err.print("error:", style="bold red", end=" ")
    err.print(str(exc), markup=False, soft_wrap=True)
