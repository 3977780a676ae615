"""Replace image markers by image blocks, for the markdown of all converters.

A block keeps the prefix of the list item or quote that contains its marker. A table cell cannot contain a block, so it
keeps a link and the block follows the table. The block of an image in a heading follows the heading; that of an image
inside a link or emphasis follows the paragraph.
"""

import re
from collections.abc import Mapping
from typing import NamedTuple

from kb_pipeline.steps.markers import ImageBlock, Marker, block_lines, find_markers, image_link

_PREFIX = re.compile(r"(?:[ \t]|>|[-*+](?=[ \t])|\d{1,9}[.)](?=[ \t]))*")
_MARKER = re.compile(r"[^>\s]")
_HEADING = re.compile(r"#{1,6}(?:[ \t]|$)")
_UNDERLINE = re.compile(r"[ \t>]*(?:=+|-+)[ \t]*$")
_TABLE_RULE = re.compile(r"\|?[ \t]*:?-+:?[ \t]*(?:\|[ \t]*:?-+:?[ \t]*)*\|?[ \t]*$")
_STARTS_BLOCK = re.compile(r"(?:\d{1,9}(?=[.)](?:\s|$)))|(?=[-*+](?:\s|$)|>|#{1,6}(?:\s|$)|`{3}|~{3})")


class MergedArticle(NamedTuple):
    """The merged markdown, and the images that could not be merged.

    ``unplaced``: files with a block but no marker; their blocks are at the end of the article.
    ``unknown``: files with a marker but no block; their markers are removed.
    """

    markdown: str
    unplaced: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def merge_images(markdown: str, blocks: Mapping[str, ImageBlock]) -> MergedArticle:
    """Replace every marker by the block of its image; all other text is unchanged."""
    markers = find_markers(markdown)
    marked_files = dict.fromkeys(marker.file for marker in markers)
    merger = _Merger(blocks)
    body = markdown.rstrip("\n")
    lines = body.split("\n") if body else []
    start, next_marker = 0, 0
    for number, line in enumerate(lines):
        line_markers: list[Marker] = []
        while next_marker < len(markers) and markers[next_marker].end <= start + len(line):
            marker = markers[next_marker]
            line_markers.append(Marker(marker.file, marker.start - start, marker.end - start))
            next_marker += 1
        merger.add_line(line, line_markers, lines[number + 1] if number + 1 < len(lines) else "")
        start += len(line) + 1
    unplaced = tuple(file for file in blocks if file not in marked_files)
    return MergedArticle(
        merger.finish([blocks[file] for file in unplaced]) + markdown[len(body) :],
        unplaced,
        tuple(file for file in marked_files if file not in blocks),
    )


def prefix_of(line: str) -> str:
    """Return the line's leading quote marks, list markers and indentation."""
    match = _PREFIX.match(line)
    return match[0] if match else ""


def continuation(prefix: str) -> str:
    """Return the prefix of the next line in the same containers: quote marks stay, list markers become spaces."""
    return _MARKER.sub(" ", prefix)


class _Merger:
    """Writes an article line by line, and holds back image blocks until the surrounding table or paragraph ends."""

    def __init__(self, blocks: Mapping[str, ImageBlock]) -> None:
        self._blocks = blocks
        self._lines: list[str] = []
        self._pending: list[tuple[str, str]] = []
        self._in_table = False
        self._after_block: str | None = None

    def add_line(self, line: str, markers: list[Marker], following: str) -> None:
        prefix = prefix_of(line)
        rest = line[len(prefix) :]
        in_table = "|" in rest and (self._in_table or _is_table_rule(following))
        if (
            not rest.strip()
            or continuation(prefix) != prefix
            or _STARTS_BLOCK.match(rest)
            or in_table != self._in_table
        ):
            self._flush()
        self._in_table = in_table
        if not markers:
            self._write(line)
        elif in_table:
            self._add_row(line, markers, prefix)
        elif _HEADING.match(rest):
            self._add_heading(line, markers, prefix)
        else:
            self._add_text(line, markers, prefix, bool(_UNDERLINE.match(following)))

    def finish(self, unplaced: list[ImageBlock]) -> str:
        """Return the article, with the blocks of unplaced images at its end."""
        self._flush()
        for block in unplaced:
            self._write_block(block, "", "")
        return "\n".join(self._lines)

    def _add_row(self, line: str, markers: list[Marker], prefix: str) -> None:
        for marker in reversed(markers):
            block = self._blocks.get(marker.file)
            line = line[: marker.start] + (image_link(block) if block else "") + line[marker.end :]
        self._write(line)
        pending_files = {file for _, file in self._pending}
        unique = {marker.file: marker for marker in markers if marker.file not in pending_files}
        self._hold(list(unique.values()), prefix)

    def _add_heading(self, line: str, markers: list[Marker], prefix: str) -> None:
        heading = _without_markers(line, markers, len(prefix))
        if heading.strip("#"):
            self._write(prefix + heading)
        self._hold(markers, prefix)
        self._flush()

    def _add_text(self, line: str, markers: list[Marker], prefix: str, underlined: bool) -> None:
        """Split the line at its markers, unless that would break a heading, link or emphasis."""
        first, start = prefix, len(prefix)
        held: list[Marker] = []
        for marker in markers:
            held.append(marker)
            before, after = line[len(prefix) : marker.start], line[marker.end :]
            if underlined or marker.file not in self._blocks or _is_inside_inline(before, after):
                continue
            text = _without_markers(line[: marker.start], held[:-1], start)
            if text:
                self._write(first + _escape_block_start(text, start > len(prefix)))
                first = continuation(prefix)
            self._hold(held, prefix)
            self._flush(first)
            first, start, held = continuation(prefix), marker.end, []
        text = _without_markers(line, held, start)
        if text:
            self._write(first + _escape_block_start(text, start > len(prefix)) + line[len(line.rstrip(" ")) :])
        self._hold(held, prefix)

    def _hold(self, markers: list[Marker], prefix: str) -> None:
        self._pending += [(continuation(prefix), marker.file) for marker in markers if marker.file in self._blocks]

    def _flush(self, first: str | None = None) -> None:
        """Write the pending blocks; ``first`` is the prefix of the first line where it differs."""
        pending, self._pending = self._pending, []
        for prefix, file in pending:
            self._write_block(self._blocks[file], prefix if first is None else first, prefix)
            first = None

    def _write(self, line: str) -> None:
        if self._after_block is not None and line.strip(" \t>"):
            self._lines.append(self._after_block)
        self._after_block = None
        self._lines.append(line)

    def _write_block(self, block: ImageBlock, first: str, prefix: str) -> None:
        if self._lines and self._lines[-1].strip(" \t>") and first == prefix:
            self._lines.append(prefix.rstrip())
        for number, line in enumerate(block_lines(block)):
            self._lines.append((prefix if number else first) + line)
        self._after_block = prefix.rstrip()


def _is_table_rule(line: str) -> bool:
    rest = line[len(prefix_of(line)) :]
    return "|" in rest and bool(_TABLE_RULE.match(rest))


def _without_markers(line: str, markers: list[Marker], start: int) -> str:
    """Return the line from ``start`` on, without the markers and the spaces around them."""
    parts = []
    for marker in markers:
        parts.append(line[start : marker.start])
        start = marker.end
    return " ".join(filter(None, (part.strip() for part in [*parts, line[start:]])))


def _escape_block_start(text: str, split: bool) -> str:
    """Escape words that a split moved to the start of a line, where they would begin a list or quote."""
    match = _STARTS_BLOCK.match(text) if split else None
    return f"{match[0]}\\{text[match.end() :]}" if match else text


def _is_inside_inline(before: str, after: str) -> bool:
    """Return whether a link, or bold or italic text, is open before a marker and closed after it."""
    before = re.sub(r"\\.", "", before)
    if before.count("[") > before.count("]") and "](" in after:
        return True
    bold, single = before.count("**"), before.replace("**", "").count("*")
    return (bold % 2 == 1 or single % 2 == 1) and "*" in after
