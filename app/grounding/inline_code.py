"""Code within a line: where it ends."""

import re
from functools import lru_cache

from app.grounding import patterns
from app.grounding.found import WAIT, Wait


def end_of_code(text: str, start: int, length: int, *, final: bool) -> int | Wait | None:
    """Where the code that begins behind ``length`` backticks at ``start`` ends: behind as many, in its line."""
    limit = start + patterns.LONGEST_CODE
    if length >= patterns.LONGEST_RUN:
        return None
    newline = text.find("\n", start, limit)
    stop = newline if newline != -1 else min(len(text), limit)
    is_open = newline == -1 and len(text) < limit and not final
    if start == len(text) and is_open:
        return WAIT
    found = _closing_ticks(length).search(text, start, stop)
    if found is None:
        return WAIT if is_open else None
    if found.end() == len(text):
        return found.end() if final else WAIT
    return found.end() if text[found.end()] != "`" else None


@lru_cache(maxsize=patterns.LONGEST_RUN)
def _closing_ticks(length: int) -> re.Pattern[str]:
    return re.compile(f"(?<!`)`{{{length}}}(?!`)")
