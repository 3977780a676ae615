"""Alerts as evidence: one row per element and alert type, with what the type says about the element. Pure."""

import json
import re
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from kb_pipeline.network.scenario import Symptom
from kb_pipeline.network.tables import FIRST_YEAR, LAST_YEAR
from kb_pipeline.network.topology import Topology

Meaning = Literal["own", "derived", "unknown", "nothing"]
"""Whether an alert says that the element itself failed, that something below it did, nothing, or nobody knows."""
_TIME = re.compile(
    r"\b(?:\d{4}([-/])\d\d\1\d\d|\d\d\.\d\d\.\d{4})(?:[T ]|, )\d\d:\d\d(?::\d\d)?"
    r"(?:\.\d+|,\d{3}\b)?(?:Z|[+-]\d\d:?\d\d)?"
)
_DAY_FIRST = re.compile(r"(\d\d)\.(\d\d)\.(\d{4})")
_WORD = re.compile(r"[^\s,;|\"'<>()\[\]{}]+")
_START = re.compile(r"[A-Za-z]+[-_]")
QUIET = 1800.0
"""A silence longer than this, in seconds, ends a sign; what comes after it is another."""
_FLAPPING = 4
"""Times that an alert comes in the window until it is called flapping; two or three are sent again by mistake."""
_LONGEST_NAME = 8
"""Most words of a name that is looked for in a text."""


@dataclass(frozen=True)
class Alert:
    """One alert as it was raised; ``at`` in seconds since 1970, UTC."""

    entity: str
    kind: str
    at: float
    severity: str = ""
    message: str = ""


@dataclass(frozen=True)
class Sign:
    """All alerts of one type of one element, without a long silence. ``vertex`` is its number in the topology."""

    vertex: int
    kind: str
    meaning: Meaning
    first: float
    last: float
    count: int
    severity: str

    @property
    def is_flapping(self) -> bool:
        """Whether it came again and again."""
        return self.count >= _FLAPPING


@dataclass(frozen=True)
class Pasted:
    """What a person pasted: the elements and alert types it names, its times, and alerts if its lines hold some."""

    entities: tuple[str, ...]
    kinds: tuple[str, ...]
    unknown: tuple[str, ...]
    alerts: tuple[Alert, ...]
    newest: float | None


def alert_table(alerts: Iterable[Alert]) -> pa.Table:
    """The same alerts as columns: entity, kind, at (seconds), severity."""
    rows = list(alerts)
    return pa.table(
        {
            "entity": pa.array([each.entity for each in rows], pa.string()),
            "kind": pa.array([each.kind for each in rows], pa.string()),
            "at": pa.array([each.at for each in rows], pa.float64()),
            "severity": pa.array([each.severity for each in rows], pa.string()),
        }
    )


def reduce_alerts(
    alerts: pa.Table, network: Topology, symptoms: Mapping[str, Symptom]
) -> tuple[list[Sign], dict[str, int]]:
    """Signs in order of time, and how many alerts came from elements that the network does not have."""
    alerts = alerts.combine_chunks()
    vertex = network.find(alerts["entity"])
    strangers = pc.value_counts(alerts["entity"].filter(pa.array(vertex < 0))).to_pylist()
    is_known = vertex >= 0
    kinds, kind = _in_order(alerts["kind"])
    severities, severity = _in_order(alerts["severity"])
    vertex, kind, severity, at = vertex[is_known], kind[is_known], severity[is_known], alerts["at"].to_numpy()[is_known]
    order = np.lexsort((severity, at, kind, vertex))
    vertex, kind, severity, at = vertex[order], kind[order], severity[order], at[order]
    is_new = (np.diff(vertex, prepend=-1) != 0) | (np.diff(kind, prepend=-1) != 0)
    begins = np.flatnonzero(is_new | (np.diff(at, prepend=-np.inf) > QUIET))
    count = np.diff(np.append(begins, len(vertex)))
    meanings: dict[tuple[int, int], Meaning] = {}
    signs = []
    by_time = np.lexsort((kind[begins], vertex[begins], at[begins]))
    for first, times in zip(begins[by_time].tolist(), count[by_time].tolist(), strict=True):
        where, what = int(vertex[first]), int(kind[first])
        known_type = int(network.type_codes[where])
        if (what, known_type) not in meanings:
            meanings[what, known_type] = meaning_of(kinds[what], network.types[where], symptoms)
        last = float(at[first + times - 1])
        meaning = meanings[what, known_type]
        signs.append(Sign(where, kinds[what], meaning, float(at[first]), last, times, severities[severity[first]]))
    return signs, {each["values"]: each["counts"] for each in sorted(strangers, key=lambda each: each["values"])}


def _in_order(column: pa.ChunkedArray) -> tuple[list[str], NDArray[np.int64]]:
    """The different texts of a column in order, and which each row has."""
    filled = pc.fill_null(column.cast(pa.string()), "")
    texts = sorted(pc.unique(filled).to_pylist())
    return texts, pc.index_in(filled, value_set=pa.array(texts, pa.string())).to_numpy().astype(np.int64)


def meaning_of(kind: str, vertex_type: str, symptoms: Mapping[str, Symptom]) -> Meaning:
    """What an alert type says of an element of a type, as the manifest declares it."""
    symptom = symptoms.get(kind)
    if symptom is None:
        return "unknown"
    if not symptom.own and not symptom.derived:
        return "nothing"
    if vertex_type in symptom.own:
        return "own"
    return "derived" if vertex_type in symptom.derived else "unknown"


def alerting_types(network: Topology, signs: Iterable[Sign], symptoms: Mapping[str, Symptom]) -> frozenset[str]:
    """The types whose silence says something: those that alerts are declared for, or that alert now."""
    declared = {name for symptom in symptoms.values() for name in (*symptom.own, *symptom.derived)}
    return frozenset(declared | {network.types[sign.vertex] for sign in signs})


def read_pasted(text: str, network: Topology, kinds: Iterable[str]) -> Pasted:
    """Find elements (by id or name), alert types and times in a pasted alert or storm, one alert a line or as JSON."""
    known_kinds = set(kinds)
    lines = _lines(text)
    words_of = [[word.strip(".:!?") for word in _WORD.findall(_TIME.sub(" ", line))] for line in lines]
    by_id = _found({word for words in words_of for word in words}, network, "id", str.upper)
    nameless = [words for words in words_of if not any(word in by_id for word in words)]
    by_name = _found({phrase for words in nameless for phrase in _phrases(words)}, network, "name", str.lower)
    entities: dict[str, None] = {}
    found_kinds: dict[str, None] = {}
    unknown: dict[str, None] = {}
    alerts: list[Alert] = []
    times: list[float] = []
    for line, words in zip(lines, words_of, strict=True):
        here = [by_id[word] for word in words if word in by_id]
        here = here or [by_name[phrase] for phrase in _phrases(words) if phrase in by_name]
        types = [word for word in words if word in known_kinds]
        at = [found for each in _TIME.finditer(line) if (found := _seconds(each.group())) is not None]
        times += at
        entities.update(dict.fromkeys(here))
        found_kinds.update(dict.fromkeys(types))
        unknown.update(dict.fromkeys(word for word in words if word not in by_id and word not in known_kinds))
        if here and types and at:
            alerts.append(Alert(here[0], types[0], at[0], "", ""))
    strange = [word for word in unknown if (start := _START.match(word)) and start.group() in network.id_starts]
    return Pasted(tuple(entities), tuple(found_kinds), tuple(strange[:20]), tuple(alerts), max(times, default=None))


def _found(texts: Collection[str], network: Topology, column: str, folded: Callable[[str], str]) -> dict[str, str]:
    """The ids of the elements whose id or name is one of the texts, in whatever case. The first of several counts."""
    wanted = sorted(texts)
    if not wanted:
        return {}
    values = network.table[column].combine_chunks()
    same_case = pc.utf8_upper(values) if folded is str.upper else pc.utf8_lower(values)
    keys = sorted({folded(each) for each in wanted})
    place = pc.index_in(same_case, value_set=pa.array(keys, pa.string()))
    here = np.flatnonzero(place.is_valid().to_numpy(zero_copy_only=False))
    first: dict[str, str] = {}
    for vertex, key in zip(here.tolist(), place.take(pa.array(here)).to_pylist(), strict=True):
        first.setdefault(keys[key], network.ids[vertex])
    return {text: first[folded(text)] for text in wanted if folded(text) in first}


def _phrases(words: Sequence[str]) -> Iterator[str]:
    """Runs of words that may be a name; a name has more than three letters."""
    for start in range(len(words)):
        for end in range(start + 1, min(start + _LONGEST_NAME, len(words)) + 1):
            phrase = " ".join(words[start:end])
            if len(phrase) > 3:
                yield phrase


def _lines(text: str) -> Sequence[str]:
    try:
        document = json.loads(text)
    except (ValueError, RecursionError):
        return text.splitlines()
    rows = document if isinstance(document, list) else [document]
    return [" ".join(map(str, row.values())) if isinstance(row, dict) else str(row) for row in rows]


def _seconds(text: str) -> float | None:
    try:
        written = _DAY_FIRST.sub(r"\3-\2-\1", text).replace("/", "-")
        at = datetime.fromisoformat(written.replace(", ", "T").replace(" ", "T"))
    except ValueError:  # digits that look like a time, such as month 99
        return None
    if not FIRST_YEAR <= at.year < LAST_YEAR:
        return None
    return (at if at.tzinfo else at.replace(tzinfo=UTC)).timestamp()
