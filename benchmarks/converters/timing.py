"""Converts a list of pages one after the other in this process and takes the time; the standard library is enough.

A page is ``<article folder>/index.html``. What comes out is written to ``<out>/<article id>/article.md`` afterwards:
neither reading a list nor writing is in the times.
"""

import json
import resource
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path

Convert = Callable[[Path], str]
"""Markdown of the page in an article folder."""


def convert_all(convert: Convert, pages: Sequence[Path], out: Path) -> dict[str, object]:
    """Times of all pages but of an extra first one, after which imports are done and models are loaded."""
    _tried(convert, pages[0])
    cpu, begun = _cpu_seconds(), time.perf_counter()
    converted = [_tried(convert, page) for page in pages]
    wall, cpu = time.perf_counter() - begun, _cpu_seconds() - cpu
    for page, markdown in zip(pages, converted, strict=True):
        target = out / page.name / "article.md"
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(markdown or "", encoding="utf-8", errors="replace")
    return {
        "pages": len(pages),
        "failures": sum(markdown is None for markdown in converted),
        "wall_s": round(wall, 3),
        "cpu_s": round(cpu, 3),
        "peak_mb": round(_peak_kb() / 1024),
    }


def read_list(path: Path) -> list[Path]:
    """The article folders that a file names, one a line."""
    return [Path(line) for line in path.read_text().splitlines()]


def _tried(convert: Convert, page: Path) -> str | None:
    try:
        return convert(page)
    except Exception as exc:  # a converter that gives up on a page has lost it; the others are still compared
        print(json.dumps({"page": page.name, "error": repr(exc)[:300]}), file=sys.stderr)
        return None


def _cpu_seconds() -> float:
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in used)


def _peak_kb() -> int:
    """Of this process, or of the largest that it started."""
    return max(resource.getrusage(who).ru_maxrss for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
