"""Sections of an article: headings of the upper three levels with the blocks below them.

Heading levels are relative to the page: the depth of a heading is the number of headings above it plus one, so that
the topmost counts as H1 and skipped levels are closed up. Not here: sizes in tokens.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from kb_pipeline.steps.chunk.blocks import MarkdownBlock
from kb_pipeline.steps.chunk.deferred import NO_TITLES, Titles, is_deferred
from kb_pipeline.steps.chunk.plain import CountTokens, plain_text

SECTION_DEPTH = 3
"""Levels of headings that begin a section: further down they divide a few sentences, which belong together."""

Key = tuple[tuple[str, int], ...]


@dataclass(slots=True)
class Section:
    """A heading and its blocks, up to the next heading that starts a section.

    ``key`` identifies it permanently: for each enclosing heading and its own, the title and the number of earlier
    headings with that title under the same parent. The text before the first heading has an empty key.
    ``deferred``: one of these headings defers it.
    """

    key: Key
    blocks: list[MarkdownBlock] = field(default_factory=list)
    deferred: bool = False

    @property
    def heading_path(self) -> tuple[str, ...]:
        """Titles of the enclosing headings and its own."""
        return tuple(title for title, _ in self.key)

    @property
    def text(self) -> str:
        return "".join(block.text for block in self.blocks)

    @property
    def is_bare(self) -> bool:
        """Whether it consists of its heading only."""
        return all(block.kind == "heading" for block in self.blocks)

    def is_below(self, other: "Section") -> bool:
        return len(self.key) > len(other.key) and self.key[: len(other.key)] == other.key

    def follows_within_parent(self, other: "Section") -> bool:
        """Return whether the other section is its parent or has the same parent."""
        return bool(self.key) and self.key[:-1] in (other.key, other.key[:-1] if other.key else None)


def split_sections(blocks: Iterable[MarkdownBlock], deferring: Titles = NO_TITLES) -> Iterator[Section]:
    """Return the sections in document order; headings below the third depth, and empty ones, start no section.

    A heading that is among the titles ``deferring`` starts one at any depth, as do those of its depth after it.
    """
    section = Section(())
    levels: list[int] = []
    counts: Counter[Key] = Counter()
    for block in blocks:
        if block.kind == "heading" and block.title:
            while levels and levels[-1] >= block.level:
                levels.pop()
            is_beside_deep = len(section.key) > max(len(levels), SECTION_DEPTH)
            if len(levels) < SECTION_DEPTH or is_beside_deep or is_deferred([block.title], deferring):
                if section.blocks:
                    yield section
                key = _key(section.key[: len(levels)], block.title, counts)
                section = Section(key, deferred=is_deferred((title for title, _ in key), deferring))
                levels.append(block.level)
        section.blocks.append(block)
    if section.blocks:
        yield section


def _key(parent: Key, title: str, counts: Counter[Key]) -> Key:
    twin: Key = (*parent, (title, -1))
    counts[twin] += 1
    return (*parent, (title, counts[twin] - 1))


@dataclass(frozen=True, slots=True)
class Group:
    """Sections that share a chunk; ``section`` has the key of one of them and the blocks of all."""

    section: Section
    tokens: int

    def with_section(self, other: "Group") -> "Group":
        """Return this group with another's blocks after its own, under its own key."""
        return Group(_merged(self, other, self.section), self.tokens + other.tokens)

    def opening(self, other: "Group") -> "Group":
        """Return the other group with this one's blocks before its own, under the other's key."""
        return Group(_merged(self, other, other.section), self.tokens + other.tokens)


def group_sections(
    sections: Sequence[Section], count: CountTokens, limit: Callable[[Section], int], min_tokens: int
) -> list[Group]:
    """Merge each section of fewer than ``min_tokens`` into the group before it.

    That group must be of its parent or a sibling, and stay within ``limit`` tokens; both or neither are deferred. A
    heading without text is no chunk of its own: it joins the chunk of the first section below it, if there is one.
    """
    groups: list[Group] = []
    for section, following in zip(sections, (*sections[1:], None), strict=False):
        begins_next = section.is_bare and following is not None and following.is_below(section)
        group = Group(section, count(plain_text(section.text)))
        last = groups.pop() if groups else None
        if last is None:
            groups.append(group)
        elif (
            group.tokens < min_tokens
            and not begins_next
            and section.follows_within_parent(last.section)
            and section.deferred == last.section.deferred
            and last.tokens + group.tokens <= limit(last.section)
        ):
            groups.append(last.with_section(group))
        elif last.section.is_bare and section.is_below(last.section):
            groups.append(last.opening(group))
        else:
            groups += [last, group]
    return groups


def _merged(first: Group, second: Group, name: Section) -> Section:
    return Section(name.key, first.section.blocks + second.section.blocks, name.deferred)
