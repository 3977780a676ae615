"""Fidelity of converted pages, by a scorer that is given as a file and knows nothing of how they were made.

The scorer is run twice: on the pages as they are, and on copies in which two things are spelled so that it cannot
misread them. Both change no word, picture, link or place:

- **The icon of a note is no figure.** It leaves out icons whose alternative text is ``Tip``, ``Note`` and so on, but
  DocBook writes ``[Tip]``: the brackets go, in the source.
- **A label is not in its own way.** The words of ``> **[Image: a-long-name](images/a-long-name.png)**`` are not counted
  as text, and yet they push the picture away from its place, beyond the tolerance of four words if the file's name has
  more than three: ``> ![](images/a-long-name.png)``, in the markdown.
"""

import json
import re
import subprocess
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

MEASURES = ("words", "headings", "images", "links", "tables", "code", "lists", "clean", "no_html")
"""What the scorer's overall figure is the mean of; each is kept out of how many."""

_BRACKETED = re.compile(rb'(<img\b[^>]*?\balt=")\[(\w+)\]"')
_LABELLED = re.compile(r"^([ >]*)\*\*\[Image: [^\n]*?\]\((images/[^)\s]+)\)\*\*$", re.MULTILINE)

Row = dict[str, list[int]]
"""A page: measure -> kept, of how many."""


class Scorer:
    """A scorer's file and the Python that has what it imports."""

    def __init__(self, python: Path, file: Path) -> None:
        self._python, self._file = python, file

    def score(self, staging: Path, ids: Sequence[str], converted: Path, scratch: Path) -> list[Row]:
        """The pages of one staging folder."""
        scratch.mkdir(parents=True, exist_ok=True)
        listed, out = scratch / "ids", scratch / "scores.jsonl"
        listed.write_text("".join(f"{article_id}\n" for article_id in ids))
        where = ["--staging", staging, "--serving", converted, "--ids", listed, "--out", out]
        subprocess.run([self._python, self._file, *where], check=True, stdout=subprocess.DEVNULL)
        return [json.loads(line) for line in out.read_text().splitlines()]


def pooled(rows: Iterable[Row], measures: Sequence[str] = MEASURES) -> dict[str, float]:
    """Share kept of each measure over all pages, and ``overall``, their mean."""
    kept, total = Counter[str](), Counter[str]()
    for row in rows:
        for name in measures:
            kept[name] += row[name][0]
            total[name] += row[name][1]
    shares = {name: kept[name] / total[name] for name in measures if total[name]}
    return shares | {"overall": sum(shares.values()) / len(shares)}


def spell_out_source(staging: Path, target: Path) -> Path:
    """A copy of a staging folder (images as links) in which no alternative text of an image stands in brackets."""
    for page in staging.glob("*/index.html"):
        folder = target / page.parent.name
        folder.mkdir(parents=True)
        for file in page.parent.iterdir():
            if file != page:
                (folder / file.name).symlink_to(file.absolute())
        (folder / page.name).write_bytes(_BRACKETED.sub(rb'\1\2"', page.read_bytes()))
    return target


def spell_out_markdown(converted: Path, ids: Iterable[str], target: Path) -> Path:
    """A copy of converted articles in which the link that opens an image block is a plain image."""
    for article_id in ids:
        text = (converted / article_id / "article.md").read_text(encoding="utf-8")
        (target / article_id).mkdir(parents=True)
        (target / article_id / "article.md").write_text(_LABELLED.sub(r"\1![](\2)", text), encoding="utf-8")
    return target
