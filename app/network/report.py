"""The situation report in markdown: the same input gives the same bytes. Pure."""

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from difflib import get_close_matches
from itertools import islice

from app.network.causes import Cause
from app.network.diagnosing import Diagnosis
from kb_pipeline.network.topology import Topology
from kb_pipeline.wording import counted

_NAMED = 8
"""Elements that a sentence names; of more, the others are counted."""
_COMPARED = 5000
"""Ids that one which the network does not have is compared with."""
_LINKS = re.compile(r"([\[\]<>!])")
_MARKUP = re.compile(r"([\\`*_{}\[\]<>()#!|])")


@dataclass(frozen=True)
class Quotation:
    """What a runbook or ticket says.

    ``text`` is markdown that cites its passages itself; with a ``source``, a file of the scenario that is no article of
    the knowledge base, it is the file's own text.
    """

    title: str
    text: str
    source: str = ""


@dataclass(frozen=True)
class SideFindings:
    """What was found besides the diagnosis, and what could not be looked at.

    ``only_pasted``: the stored alerts could not be read, so only those of the text were looked at.
    """

    procedures: Sequence[Quotation] = ()
    precedents: Sequence[Quotation] = ()
    unknown: Sequence[str] = ()
    missing: Sequence[str] = ()
    only_pasted: bool = False


def write_report(network: Topology, diagnosis: Diagnosis, found: SideFindings | None = None) -> str:
    """Word the diagnosis: the cause in the first line, then why, who is hit, what to do, and what is not known."""
    found = found or SideFindings()
    parts = [
        *_summary(network, diagnosis, found),
        *_why(network, diagnosis),
        *_hit(network, diagnosis),
        *_quoted("What to do now", found.procedures),
        *_quoted("What was done before", found.precedents),
        *_otherwise(network, diagnosis),
        *_unexplained(network, diagnosis, found),
    ]
    return "\n".join(parts).strip() + "\n"


def percent(probability: float) -> str:
    """A probability for people; at most 99 %, as no cause is certain."""
    return f"{min(probability, 0.99):.0%}"


def _summary(network: Topology, diagnosis: Diagnosis, found: SideFindings) -> Iterator[str]:
    chosen, unknown = diagnosis.ranking.chosen, found.unknown
    yield "# Situation report"
    yield ""
    if not chosen and found.only_pasted:
        yield "**Nothing can be said about the cause**, as the stored alerts could not be read."
    elif not chosen:
        yield "**No common cause found.** The alerts do not point to one failure more than to chance."
    for cause in chosen:
        name = _named(network, cause.vertex)
        began = _clock(cause.hypothesis.onset or _first(diagnosis, cause))
        certainty = cause.certainty or "possible"
        yield f"**{certainty.capitalize()} cause: {name}** ({percent(cause.probability)}), since {began}."
    if chosen and found.only_pasted:
        yield "Only the alerts of the text were looked at, as the stored ones could not be read."
    for vertex in dict.fromkeys(diagnosis.maintenance):
        yield f"Maintenance of {_named(network, vertex)} was planned for this time."
    if unknown:
        some = ", ".join(_plain(each) + _nearest(network, each) for each in unknown[:_NAMED])
        yield f"The network does not have {some}{_more(len(unknown))}, which the alert names."
    meaningless = sum(sign.meaning == "nothing" for sign in diagnosis.signs)
    says = "says" if meaningless == 1 else "say"
    unrelated = f"; {counted(meaningless, 'kind')} of alerts {says} nothing about failures" if meaningless else ""
    groups = counted(len(diagnosis.incidents), "group")
    yield ""
    yield (
        f"{counted(diagnosis.alerts, 'alert')}, {counted(len({s.vertex for s in diagnosis.signs}), 'element')}, "
        f"{groups} of alerts that belong together, from {_clock(diagnosis.since)} to "
        f"{_clock(diagnosis.until)}{unrelated}."
    )


def _why(network: Topology, diagnosis: Diagnosis) -> Iterator[str]:
    if not diagnosis.ranking.chosen:
        return
    yield from ("", "## Why", "")
    for cause in diagnosis.ranking.chosen:
        touched = {**cause.hypothesis.failed, **cause.hypothesis.weakened}
        explained = [each for each in diagnosis.explained if each in touched]
        silent = [each for each in diagnosis.silent if each in cause.hypothesis.failed]
        yield f"- {_named(network, cause.vertex)} explains alerts of {_several(network, explained)}."
        if own := [sign for sign in diagnosis.signs if sign.vertex == cause.vertex]:
            told = ", ".join(f"{_plain(sign.kind)} at {_clock(sign.first)}{_often(sign.count)}" for sign in own)
            yield f"- It alerts itself: {told}."
        else:
            yield "- It raises no alert itself."
        if cause.hypothesis.mode == "site":
            yield f"- What stands at the same site failed with it: {_several(network, cause.hypothesis.parts)}."
        elif cause.hypothesis.parts:
            yield f"- It failed in part: {_several(network, cause.hypothesis.parts)}, and what depends on that."
        if silent:
            yield f"- Expected and absent: alerts of {_several(network, silent)}."
        if anomaly := diagnosis.anomalies.get(cause.vertex):
            unusual = "out of its baseline" if anomaly.surprise >= 2 else "within its baseline"
            unusual = "it carries nothing any more" if anomaly.lives is False else unusual
            since = f", since {_clock(anomaly.onset)}" if anomaly.onset else ""
            yield f"- {_plain(anomaly.metric)} is {anomaly.value:.4g}, usually {anomaly.usual:.4g}: {unusual}{since}."
    parts = [
        way
        for way in diagnosis.paths
        for other in diagnosis.paths
        if len(way) < len(other) and other[-len(way) :] == way
    ]
    whole = [way for way in diagnosis.paths if way not in parts]
    if ways := sorted(whole, key=lambda way: (-len(way), [network.ids[each] for each in way]))[:3]:
        yield ""
        for way in ways:
            yield f"- Way of the failure: {' ← '.join(_named(network, each) for each in way[::-1])}"


def _hit(network: Topology, diagnosis: Diagnosis) -> Iterator[str]:
    blast = diagnosis.blast
    groups = [("down", blast.down), ("weakened, on what is left", blast.weakened)]
    groups += [(f"{'also ' if blast.down else ''}down if it is otherwise", blast.perhaps)]
    if not any(vertices for _, vertices in groups):
        return
    yield from ("", "## Who is hit", "")
    for word, vertices in groups:
        counts = Counter(network.types[each] for each in vertices)
        for kind, count in sorted(counts.items(), key=lambda each: (-each[1], each[0])):
            some = [each for each in vertices if network.types[each] == kind]
            yield f"- {count} {_plain(kind)} {word}: {_several(network, some)}"
    yield from _obligations(network, diagnosis)


def _obligations(network: Topology, diagnosis: Diagnosis) -> Iterator[str]:
    total = 0.0
    exposed = [
        each for each in (*diagnosis.blast.down, *diagnosis.blast.weakened) if network.kinds[each] == "obligation"
    ]
    for vertex in exposed:
        properties = network.properties(vertex)
        penalty = properties.get("penalty_per_hour")
        is_down = vertex in diagnosis.blast.down
        total += float(penalty) if is_down and isinstance(penalty, int | float) else 0.0
        told = [str(properties[name]) for name in ("tier",) if name in properties]
        told += [f"{penalty:g} per hour"] if isinstance(penalty, int | float) else []
        if told:
            state = "breached" if is_down else "at risk"
            yield f"- Agreement {_named(network, vertex)} ({_plain(', '.join(told))}): {state}"
    if total:
        yield f"- Penalties together: {total:g} per hour"


def _quoted(title: str, quotations: Sequence[Quotation]) -> Iterator[str]:
    if not quotations:
        return
    yield from ("", f"## {title}", "")
    for each in quotations:
        yield f"**{_plain(each.title)}**" + (f" (file {_plain(each.source)})" if each.source else "")
        yield ""
        yield from ("> " + _LINKS.sub(r"\\\1", line) for line in each.text.splitlines()) if each.source else [each.text]
        yield ""


def _otherwise(network: Topology, diagnosis: Diagnosis) -> Iterator[str]:
    chosen = {cause.vertex for cause in diagnosis.ranking.chosen}
    others = [cause for cause in diagnosis.ranking.causes if cause.vertex not in chosen][:2]
    others = [cause for cause in others if cause.probability >= 0.005]
    if not others:
        return
    yield from ("", "## Otherwise" if diagnosis.ranking.chosen else "## What comes nearest to a cause", "")
    for other in others:
        check = _telling_apart(network, diagnosis.ranking.chosen[0], other) if diagnosis.ranking.chosen else ""
        yield f"- {_named(network, other.vertex)} ({percent(other.probability)}){check}"


def _telling_apart(network: Topology, cause: Cause, other: Cause) -> str:
    """The nearest element that would fail with one of the two and not with the other."""
    mine, theirs = cause.hypothesis.failed, other.hypothesis.failed
    only = sorted((theirs[each], each) for each in theirs if each not in mine and each != other.vertex)
    if only:
        return f": then {_named(network, only[0][1])} fails as well; check it"
    only = sorted((mine[each], each) for each in mine if each not in theirs and each != cause.vertex)
    return f": then {_named(network, only[0][1])} works; check it" if only else ""


def _unexplained(network: Topology, diagnosis: Diagnosis, found: SideFindings) -> Iterator[str]:
    lines = []
    if diagnosis.unexplained and diagnosis.ranking.chosen:
        lines.append(f"- Not explained: alerts of {_several(network, diagnosis.unexplained)}.")
    if silent := [sign for sign in diagnosis.signs if sign.meaning == "nothing"]:
        told = ", ".join(f"{_plain(sign.kind)} of {_named(network, sign.vertex)}" for sign in silent[:_NAMED])
        lines.append(f"- Unrelated by their type: {told}{_more(len(silent))}.")
    if diagnosis.strangers:
        some = list(diagnosis.strangers)
        lines.append(
            "- Alerts of elements that the network does not have: "
            f"{', '.join(map(_plain, some[:_NAMED]))}{_more(len(some))}."
        )
    lines += [f"- {_plain(missing)}" for missing in found.missing]
    if lines:
        yield from ("", "## What is not explained or could not be looked at", "", *lines)


def _first(diagnosis: Diagnosis, cause: Cause) -> float:
    touched = {**cause.hypothesis.failed, **cause.hypothesis.weakened}
    return min((sign.first for sign in diagnosis.signs if sign.vertex in touched), default=diagnosis.since)


def _nearest(network: Topology, name: str) -> str:
    """The ids that a misspelt one may stand for."""
    start = re.split(r"[-_]", name, maxsplit=1)[0].upper()
    alike = list(islice((each for each in network.ids if each.upper().startswith(start)), _COMPARED))
    near = get_close_matches(name.upper(), [each.upper() for each in alike], 2, 0.75)
    named = [_plain(each) for each in alike if each.upper() in near]
    return f" (nearest: {', '.join(named)})" if named else ""


def _several(network: Topology, vertices: Sequence[int]) -> str:
    if not vertices:
        return "no element"
    return ", ".join(_named(network, each) for each in vertices[:_NAMED]) + _more(len(vertices))


def _more(count: int) -> str:
    return f" and {count - _NAMED} more" if count > _NAMED else ""


def _named(network: Topology, vertex: int) -> str:
    return _plain(network.ids[vertex])


def _plain(text: str) -> str:
    """Text of others, so that none of it is markup, a link or an image."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))[:300]


def _often(count: int) -> str:
    return f" ({count} times)" if count > 1 else ""


def _clock(at: float) -> str:
    return f"{datetime.fromtimestamp(at, UTC):%Y-%m-%d %H:%M:%S} UTC"
