"""Small sections together: which sections share a chunk.

Sizes are counted in the embedder's tokens of the plain text. Not here: cutting what is too long (splitting.py).
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass

from kb_pipeline.steps.chunk.plain import CountTokens, plain_text
from kb_pipeline.steps.chunk.sections import Section


@dataclass(frozen=True, slots=True)
class Group:
    """Sections in one chunk, under the name of ``section``, which holds all their blocks."""

    section: Section
    tokens: int

    def with_section(self, other: "Group") -> "Group":
        """This group with another's blocks after its own."""
        return Group(_joined(self, other, self.section), self.tokens + other.tokens)

    def opening(self, other: "Group") -> "Group":
        """The other group with this one's blocks before its own."""
        return Group(_joined(self, other, other.section), self.tokens + other.tokens)


def group_sections(
    sections: Iterable[Section], count: CountTokens, limit: Callable[[Section], int], min_tokens: int
) -> list[Group]:
    """Merge each section of less than ``min_tokens`` upward into the group before it.

    That group must be its parent's or a sibling's, and stay within ``limit`` tokens. A heading without text
    is no chunk of its own: it opens the chunk of the first section below it.
    """
    groups: list[Group] = []
    for section in sections:
        group = Group(section, count(plain_text(section.text)))
        last = groups.pop() if groups else None
        if last is None:
            groups.append(group)
        elif group.tokens < min_tokens and _may_join(group, last, limit):
            groups.append(last.with_section(group))
        elif last.section.is_bare and section.is_below(last.section):
            groups.append(last.opening(group))
        else:
            groups += [last, group]
    return groups


def _may_join(group: Group, last: Group, limit: Callable[[Section], int]) -> bool:
    return group.section.follows_within_parent(last.section) and last.tokens + group.tokens <= limit(last.section)


def _joined(first: Group, second: Group, name: Section) -> Section:
    return Section(name.key, first.section.blocks + second.section.blocks)
