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
from app.network.incidents import GAP
from kb_pipeline.network.topology import Topology
from kb_pipeline.wording import counted

_NAMED = 8
"""Elements that a sentence names; of more, the others are counted."""
_MONTH = 30 * 24 * 60
"""Minutes in which an agreement on availability counts what was down."""
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

    ``only_pasted``: the stored alerts could not be read, so only those of the text were looked at. ``stored`` is the
    time of the newest of them. ``asks_for_a_time``: nothing but a time was named, so all alerts of it were looked at.
    ``network`` is the one that was looked at; ``also_named`` are others whose elements the text names.
    """

    procedures: Sequence[Quotation] = ()
    precedents: Sequence[Quotation] = ()
    unknown: Sequence[str] = ()
    meant: Sequence[str] = ()
    missing: Sequence[str] = ()
    only_pasted: bool = False
    names_elements: bool = True
    names_a_time: bool = True
    asks_for_a_time: bool = False
    stored: float = 0.0
    network: str = "the network"
    also_named: Sequence[str] = ()


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
    """A probability for people; at most 99 %, as no cause is certain, and none is impossible."""
    return f"{min(probability, 0.99):.0%}" if probability >= 0.005 else "below 1%"


def _summary(network: Topology, diagnosis: Diagnosis, found: SideFindings) -> Iterator[str]:
    chosen, unknown = diagnosis.ranking.chosen, found.unknown
    yield "# Situation report"
    yield ""
    yield from _unnamed(network, diagnosis, found)
    if not found.names_elements and not found.asks_for_a_time:
        return
    if not chosen and found.only_pasted:
        yield "**Nothing can be said about the cause**, as the stored alerts could not be read."
    elif not chosen:
        yield "**No common cause found.** The alerts do not point to one failure more than to chance."
    for cause in chosen:
        name = _named(network, cause.vertex)
        began = _clock(_began(diagnosis, cause))
        if cause.vertex in diagnosis.premises:
            yield (
                f"**Named by the text: {name}** ({percent(cause.probability)}), since {began}. What was seen is too "
                "little to call it the cause; below stands what follows if it is down."
            )
            continue
        if cause in diagnosis.alone:
            own = "alert" if any(sign.vertex == cause.vertex for sign in diagnosis.signs) else "measurements"
            yield (
                f"**Named by its own {own}: {name}** ({percent(cause.probability)}), since {began}. No common cause "
                "was found, and nothing else confirms it; below stands what follows if it has failed."
            )
            continue
        certainty = cause.certainty or "possible"
        yield f"**{certainty.capitalize()} cause: {name}** ({percent(cause.probability)}), since {began}."
    for cause in diagnosis.aside:
        yield (
            f"At the same time, and not of what the text names: {_named(network, cause.vertex)} "
            f"({percent(cause.probability)}), since {_clock(_began(diagnosis, cause))}."
        )
    if others := [each for each in diagnosis.alone if each not in chosen]:
        told = ", ".join(f"{_named(network, each.vertex)} ({percent(each.probability)})" for each in others[:_NAMED])
        yield f"Also by their own alerts or measurements, and explained by nothing: {told}{_more(len(others))}."
    if chosen and found.only_pasted:
        yield "Only the alerts of the text were looked at, as the stored ones could not be read."
    for vertex in dict.fromkeys(diagnosis.maintenance):
        yield f"Maintenance of {_named(network, vertex)} was planned for this time."
    if unknown and found.names_elements:
        yield _strangers(network, unknown)
    meaningless = sum(sign.meaning == "nothing" for sign in diagnosis.signs)
    says = "says" if meaningless == 1 else "say"
    unrelated = f"; {counted(meaningless, 'kind')} of alerts {says} nothing about failures" if meaningless else ""
    groups = counted(len(diagnosis.incidents), "group")
    yield ""
    yield (
        f"{counted(diagnosis.alerts, 'alert')}, {counted(len(diagnosis.alerting), 'element')}, "
        f"{groups} of alerts that belong together, from {_clock(diagnosis.since)} to "
        f"{_clock(diagnosis.until)}, in {_plain(found.network)}{unrelated}."
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
    groups = [
        ("down if it has failed" if diagnosis.is_alone else "down", blast.down),
        ("weakened, on what is left", blast.weakened),
    ]
    groups += [(f"{'also ' if blast.down else ''}down if it is otherwise", blast.perhaps)]
    suffering = [] if diagnosis.ranking.chosen else list(_suffering(network, diagnosis))
    if not suffering and not any(vertices for _, vertices in groups):
        return
    is_premise = bool(diagnosis.premises) and len(diagnosis.premises) == len(diagnosis.ranking.chosen)
    yield from ("", "## Who is hit if it is down" if is_premise else "## Who is hit", "")
    yield from suffering
    for word, vertices in groups:
        counts = Counter(network.types[each] for each in vertices)
        for kind, count in sorted(counts.items(), key=lambda each: (-each[1], each[0])):
            some = [each for each in vertices if network.types[each] == kind]
            yield f"- {count} {_plain(kind)} {word}: {_several(network, some)}"
    yield from _customers(network, diagnosis)
    yield from _obligations(network, diagnosis)


def _suffering(network: Topology, diagnosis: Diagnosis) -> Iterator[str]:
    """Where no cause is known: what cannot be a cause and alerts, what it rests on, and who rests on it."""
    alerting = [each for each in diagnosis.unexplained if network.kinds[each] != "infrastructure"][:_NAMED]
    for vertex in alerting:
        below, above = network.dependents(vertex), network.dependencies(vertex)
        told = [network.types[vertex], *([str(who)] if (who := network.properties(vertex).get("customer")) else [])]
        told += [f"it depends on {', '.join(network.ids[each] for each in above[:_NAMED])}"] if above else []
        told += [f"on it depends {', '.join(network.ids[each] for each in below[:_NAMED])}"] if below else []
        yield f"- {_named(network, vertex)} alerts: {_plain('; '.join(told))}"


def _customers(network: Topology, diagnosis: Diagnosis) -> Iterator[str]:
    """Whose services are down or weakened, as far as services tell their customers and how many people use them."""
    for word, vertices in (("down", diagnosis.blast.down), ("weakened", diagnosis.blast.weakened)):
        services = [network.properties(each) for each in vertices if network.kinds[each] == "service"]
        customers = list(dict.fromkeys(_plain(str(each["customer"])) for each in services if each.get("customer")))
        if customers:
            yield f"- Customers of services {word}: {', '.join(customers[:_NAMED])}{_more(len(customers))}"
        numbers = [used for each in services if isinstance(used := each.get("subscribers"), int | float)]
        if subscribers := sum(numbers):
            yield f"- Subscribers of services {word}: {subscribers:,.0f}"


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
            state = _breach(diagnosis, properties.get("availability_pct")) if is_down else "at risk"
            yield f"- Agreement {_named(network, vertex)} ({_plain(', '.join(told))}): {state}"
    if total:
        yield f"- Penalties together: {total:g} per hour"


def _breach(diagnosis: Diagnosis, availability: object) -> str:
    """Whether an agreement whose service is down is breached by that, or in how many minutes it will be."""
    began = min((_began(diagnosis, cause) for cause in diagnosis.ranking.chosen), default=diagnosis.until)
    if not isinstance(availability, int | float) or not 0 < availability < 100:
        return "breached"
    allowed = (1 - availability / 100) * _MONTH
    left = allowed - (diagnosis.until - began) / 60
    told = f"{availability:g} % allow {allowed:.3g} minutes a month"
    return (
        f"breached: {told}" if left <= 0 else f"breached in {left:.3g} minutes, if nothing was used up before: {told}"
    )


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
    if diagnosis.beside:
        others = sorted({vertex for group in diagnosis.beside for vertex in group.vertices})
        lines.append(f"- Unrelated to what the text names: alerts of {_several(network, others)}.")
    if silent := [sign for sign in diagnosis.signs if sign.meaning == "nothing"]:
        told = ", ".join(f"{_plain(sign.kind)} of {_named(network, sign.vertex)}" for sign in silent[:_NAMED])
        lines.append(f"- Unrelated by their type: {told}{_more(len(silent))}.")
    if diagnosis.strangers:
        some = list(diagnosis.strangers)
        lines.append(
            "- Alerts of elements that the network does not have: "
            f"{', '.join(map(_plain, some[:_NAMED]))}{_more(len(some))}."
        )
    lines += [f"- Not looked at: {_plain(each)}; the text names elements of it as well." for each in found.also_named]
    lines += [f"- {_plain(missing)}" for missing in found.missing]
    if lines:
        yield from ("", "## What is not explained or could not be looked at", "", *lines)


def _began(diagnosis: Diagnosis, cause: Cause) -> float:
    """When its own alerts began, else when the first that it explains did, else when its measurements say."""
    onset = cause.hypothesis.onset
    touched = {**cause.hypothesis.failed, **cause.hypothesis.weakened}
    near = [
        sign for sign in diagnosis.signs if sign.vertex in touched and (not onset or abs(sign.first - onset) <= GAP)
    ]
    own = [sign.first for sign in near if sign.vertex == cause.vertex]
    return min(own or [sign.first for sign in near], default=onset or diagnosis.since)


def _unnamed(network: Topology, diagnosis: Diagnosis, found: SideFindings) -> Iterator[str]:
    """What the text does not name: with that the report begins."""
    if found.names_elements:
        if not found.names_a_time:
            yield f"The text names no time, so its alerts count as of now, {_clock(diagnosis.until)}."
            yield ""
        return
    if found.asks_for_a_time:
        yield f"The text names no element of {_plain(found.network)}, so all alerts before its time were looked at."
        yield ""
        return
    time = "" if found.names_a_time else ", and no time"
    yield f"**The text names no element of {_plain(found.network)}{time}**, so there is nothing to look for."
    if found.unknown:
        yield _strangers(network, found.unknown)
    if found.meant:
        some = ", ".join(map(_plain, found.meant[:_NAMED])) + _more(len(found.meant))
        yield f"It may mean {some}, whose words stand in the text."
    until = f", or a time: the newest stored alert is of {_clock(found.stored)}" if found.stored else ""
    yield f"Name an element by its id or its name{until}."


def _strangers(network: Topology, unknown: Sequence[str]) -> str:
    some = ", ".join(_plain(each) + _nearest(network, each) for each in unknown[:_NAMED])
    return f"The network does not have {some}{_more(len(unknown))}, which the alert names."


def _nearest(network: Topology, name: str) -> str:
    """The ids that a misspelt one may stand for."""
    start = re.split(r"[-_]", name, maxsplit=1)[0].upper()
    alike = list(islice((each for each in network.ids if each.upper().startswith(start)), _COMPARED))
    alike = alike or network.ids[:_COMPARED]
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
