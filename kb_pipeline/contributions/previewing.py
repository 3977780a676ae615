"""Shows what readers will see of a contribution: the file that accepting it makes, converted as the pipeline will."""

import re

from kb_pipeline.contributions.base import Contribution
from kb_pipeline.contributions.converting import convert_alone, text_of
from kb_pipeline.contributions.placing import ids_in
from kb_pipeline.contributions.review import FileChange
from kb_pipeline.settings import Settings
from kb_pipeline.steps.metadata import METADATA_FILE

_HEADING = re.compile(r"^#{1,6} +(.+?) *#*$", re.MULTILINE)
_MARKS = re.compile(r"[\\*_`]")


def seen_by_readers(settings: Settings, contribution: Contribution, change: FileChange) -> str:
    """Return the part of the converted text that the contribution adds, below its heading, as Markdown.

    Pictures that the file shows elsewhere are left alone: only the text is converted.

    Raises:
        ContributionError: the file would not be published; the message says why.
        StorageError: the temporary folder cannot be written.
    """
    metadata = {METADATA_FILE: change.target.metadata.encode()} if change.target.metadata else {}
    files = {change.file: change.after.encode(), **metadata}
    converted, _ = convert_alone(settings, change.target.article_id, change.file, files)
    return _part_of(text_of(converted), contribution, change.section)


def _part_of(text: str, contribution: Contribution, section: str) -> str:
    """The text from the contribution's heading, or that of its section, to the line that will name who accepted it."""
    lines = text.split("\n")
    end = next((at for at, line in enumerate(lines) if contribution.id in ids_in(line)), len(lines))
    before = "\n".join(lines[:end])
    if not section:
        return before.strip()
    headings = [(_plain(match[1]), match.start()) for match in _HEADING.finditer(before)]
    for wanted in (_plain(contribution.description), _plain(section)):
        if starts := [start for words, start in headings if words == wanted]:
            return before[starts[-1] :].strip()
    return before.strip()


def _plain(words: str) -> str:
    return " ".join(_MARKS.sub("", words).split()).casefold()
