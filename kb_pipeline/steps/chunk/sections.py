"""Sections of an article: headings of the upper three levels and what stands below them.

Heading levels are relative to the page: a heading's depth is the number of headings it stands under, plus one,
so that the topmost counts as H1 and skipped levels close up. Not here: sizes.
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

from kb_pipeline.steps.chunk.blocks import Block

SECTION_DEPTH = 3

Key = tuple[tuple[str, int], ...]


@dataclass(slots=True)
class Section:
    """A heading and its blocks, up to the next heading that makes a section.

    ``key`` names it for good: for each enclosing heading and its own, the title and how many headings of that
    title stand before it under the same parent. The text before the first heading has the empty key.
    """

    key: Key
    blocks: list[Block] = field(default_factory=list)

    @property
    def heading_path(self) -> tuple[str, ...]:
        """Titles of the enclosing headings and its own."""
        return tuple(title for title, _ in self.key)

    @property
    def text(self) -> str:
        """The section's source."""
        return "".join(block.text for block in self.blocks)

    @property
    def is_bare(self) -> bool:
        """Whether it has nothing but its heading."""
        return all(block.kind == "heading" for block in self.blocks)

    def is_below(self, other: "Section") -> bool:
        """Whether it stands under the other section's heading."""
        return len(self.key) > len(other.key) and self.key[: len(other.key)] == other.key

    def follows_within_parent(self, other: "Section") -> bool:
        """Whether the other section is its parent or has the same parent."""
        return bool(self.key) and self.key[:-1] in (other.key, other.key[:-1] if other.key else None)


def split_sections(blocks: Iterable[Block]) -> Iterator[Section]:
    """Sections in document order; headings below the third depth, and empty ones, stay inside."""
    section = Section(())
    levels: list[int] = []
    seen: Counter[Key] = Counter()
    for block in blocks:
        if block.kind == "heading" and block.title:
            while levels and levels[-1] >= block.level:
                levels.pop()
            if len(levels) < SECTION_DEPTH:
                if section.blocks:
                    yield section
                section = Section(_key(section.key[: len(levels)], block.title, seen))
                levels.append(block.level)
        section.blocks.append(block)
    if section.blocks:
        yield section


def _key(parent: Key, title: str, seen: Counter[Key]) -> Key:
    twin: Key = (*parent, (title, -1))
    seen[twin] += 1
    return (*parent, (title, seen[twin] - 1))
