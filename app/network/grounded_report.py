"""Holds a model's report to the network: ids that nothing has are marked, and so are ways that are no edges. Pure."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise

from kb_pipeline.network.topology import Topology

UNKNOWN_ELEMENT = "(no such element)"
NOT_CONFIRMED = "(not confirmed in the topology)"
_DEPTH = 12
"""Edges of a way that a report may name in one step; longer ones connect nearly anything."""
_SEPARATORS = "-_:/."
_ARROW = re.compile(
    r"[\s`*]*+(?:\([^()\n]{0,80}\)[\s`*]*+)?"  # the type of the element
    r"(?:[←→⟵⟶]|(?:\\?<|&lt;)[-=]{1,4}|[-=]{1,4}(?:\\?>|&gt;))[\s`*]*+"
)
_SAYS = re.compile(r"\b(?:depends? on|runs? over|routes? over|(?:is|was) caused by|rel(?:y|ies) on)\b", re.IGNORECASE)


@dataclass(frozen=True)
class _Named:
    """Where an id stands in a line, and its element; ``None`` if it only looks like an id of this network."""

    start: int
    end: int
    vertex: int | None


def ground_report(text: str, network: Topology) -> str:
    """The report with a mark behind each id that the network does not have, and behind each way that is none.

    A way is a row of ids with arrows between them, or a sentence that says that one depends on the other.
    """
    separators = "".join(re.escape(each) for each in _SEPARATORS if any(each in name for name in network.ids))
    inner = rf"(?:\\?[{separators}]\w++)*+" if separators else ""
    word = re.compile(rf"(?<![\w./@#\\-])[^\W_]\w*+{inner}")
    numbers = {each.upper(): number for number, each in enumerate(network.ids)}
    starts = {start for each in network.ids if (start := _start(each))}
    lines = []
    for line in text.split("\n"):
        named = list(_ids(line, word, numbers, starts))
        is_so = all(_is_so(line, one, other, network) for one, other in pairwise(named))
        marked = _marked(line, named)
        lines.append(marked if is_so else f"{marked.rstrip()} {NOT_CONFIRMED}")
    return "\n".join(lines)


def _ids(line: str, word: re.Pattern[str], known: Mapping[str, int], starts: set[str]) -> Iterator[_Named]:
    for match in word.finditer(line):
        name = match[0].replace("\\", "")
        vertex = known.get(name.upper())
        if vertex is not None or (_start(name) in starts and (name.isupper() or re.search(r"\d", name))):
            yield _Named(match.start(), match.end(), vertex)


def _start(name: str) -> str:
    """The letters with which ids of one kind begin, up to the first separator."""
    match = re.match(r"[^\W\d_]+[-_:/.]", name)
    return match.group().upper() if match else ""


def _marked(line: str, named: list[_Named]) -> str:
    for each in reversed(named):
        if each.vertex is None:
            behind = each.end + len(line[each.end :]) - len(line[each.end :].lstrip("`*"))
            line = f"{line[:behind]} {UNKNOWN_ELEMENT}{line[behind:]}"
    return line


def _is_so(line: str, one: _Named, other: _Named, network: Topology) -> bool:
    """Whether what a line says of two ids in a row is so, by an arrow or such words between them, if it says that."""
    between = line[one.end : other.start]
    is_arrow = _ARROW.fullmatch(between) is not None
    if not is_arrow and (not _SAYS.search(between) or re.search(r"[.;]\s", between)):
        return True
    if one.vertex is None or other.vertex is None:
        return False
    if is_arrow:
        return other.vertex in network.dependencies(one.vertex) or one.vertex in network.dependencies(other.vertex)
    return bool(network.path(one.vertex, other.vertex, _DEPTH))
