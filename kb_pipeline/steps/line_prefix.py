"""The prefix of a markdown line: the quotes and list items it stands in.

Source: https://spec.commonmark.org/0.31.2/#container-blocks
"""

import re

_PREFIX = re.compile(r"(?:[ \t]|>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))*")
_MARKER = re.compile(r"[^>\s]")


def prefix_of(line: str) -> str:
    """The line's leading quote marks, list markers and indentation."""
    match = _PREFIX.match(line)
    return match[0] if match else ""


def continuation(prefix: str) -> str:
    """The prefix of the next line in the same containers: quote marks stay, list markers become space."""
    return _MARKER.sub(" ", prefix)
