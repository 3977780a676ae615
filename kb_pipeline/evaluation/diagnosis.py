"""Measures of a diagnosis of an incident whose causes are known, and what was missed, in rows.

What each measure is stands in ``docs/network.md``; higher is better for all but the Brier score.

The app diagnoses; here it is compared with what people know. What counts is what the report says: a cause that it does
not name is not found, however likely it was.
"""

from collections.abc import Iterable, Mapping, Sequence

from pydantic import Field

from kb_pipeline.evaluation.comparison import TELLING, ChangedOutcome
from kb_pipeline.evaluation.provenance import commit
from kb_pipeline.evaluation.records import AskedSet, EvaluationRun, QuestionOutcome
from kb_pipeline.network.incidents import Incident
from kb_pipeline.records import Record
from kb_pipeline.steps.fingerprint import fingerprint

_FIRST = 3
"""Causes of a ranking that somebody looks at."""
_SHOWN = 3
"""Candidates in a row."""
_CHARACTERS = 200
"""Characters of an alert in a row."""


class Suspect(Record):
    """An element that may have failed, with its probability."""

    id: str
    probability: float


class GivenDiagnosis(Record):
    """A diagnosis: candidates, best first, those that the report names, and the planned work that it tells of.

    ``is_alone``: it names one for its own alert alone, and says that there is no common cause. ``failure`` says why
    there is no diagnosis.
    """

    ranked: tuple[Suspect, ...] = ()
    named: tuple[str, ...] = ()
    is_alone: bool = False
    planned: tuple[str, ...] = ()
    failure: str = ""
    seconds: float = 0.0


class Diagnosed(Record):
    """What an outcome tells of an incident: its name, what is known of it, and what was diagnosed."""

    incident: str
    causes: tuple[str, ...] = ()
    planned: tuple[str, ...] = ()
    given: GivenDiagnosis = Field(default_factory=GivenDiagnosis)


def diagnosis_run(
    scenario: str,
    version: str,
    *,
    tickets: Mapping[str, str],
    sets: Mapping[str, Sequence[Incident]],
    settings: dict[str, str],
    code: str,
    at: str,
) -> EvaluationRun:
    """A new run without scores. Its id is a hash of everything that could change its results.

    ``tickets`` are their hashes: they tell of planned work. ``sets`` are incidents by where they are from.
    """
    asked = tuple(
        AskedSet(name=name, sha256=fingerprint([each.id for each in incidents]), questions=len(incidents))
        for name, incidents in sets.items()
        if incidents
    )
    content = fingerprint(tickets)[:16]
    state = (scenario, version, content, commit(), code, settings, [(one.name, one.sha256) for one in asked])
    return EvaluationRun(
        id=f"diagnosis-{fingerprint(*state)[:16]}",
        kind="diagnosis",
        made_at=at,
        seen_at=at,
        generation=version,
        content=content,
        commit=commit(),
        code=code,
        settings=settings,
        question_sets=asked,
        scores={},
        scenario=scenario,
    )


def diagnosis_outcome(
    incident: Incident, asked_set: str, types: Mapping[str, str], given: GivenDiagnosis
) -> QuestionOutcome:
    """The outcome of an incident that was diagnosed; ``types`` are those of the network's vertices."""
    told = Diagnosed(incident=incident.incident, causes=incident.causes, planned=incident.planned, given=given)
    return QuestionOutcome(
        question_id=incident.id,
        question_set=asked_set,
        asked=incident.asked,
        kind=_group(incident, types),
        article_id=None,
        values=diagnosis_values(incident, given),
        detail=told.model_dump(mode="json"),
    )


def diagnosis_values(incident: Incident, given: GivenDiagnosis) -> dict[str, float]:
    """The diagnosis's value for each measure that applies to the incident, from 0 to 1. A failure found nothing."""
    values: dict[str, float] = {}
    if incident.causes:
        first = {each.id for each in given.ranked[: max(_FIRST, len(incident.causes))]}
        values["top-1"] = float(bool(set(given.named[:1]) & set(incident.causes)))
        values["top-3"] = len(first & set(incident.causes)) / len(incident.causes)
    else:
        values["no common cause"] = float((not given.named or given.is_alone) and not given.failure)
    if incident.planned:
        values["planned work"] = float(set(incident.planned) <= set(given.planned))
    if not given.failure:
        values["Brier"] = round(_distance(incident, given.ranked), 6)
    return values


def _distance(incident: Incident, ranked: Sequence[Suspect]) -> float:
    """How far the first candidate's probability is from the truth: wholly, where there is a cause and no candidate."""
    if not ranked:
        return float(bool(incident.causes))
    return (ranked[0].probability - (ranked[0].id in incident.causes)) ** 2


def missed_rows(outcomes: Iterable[QuestionOutcome]) -> list[dict[str, str]]:
    """A row for each incident whose diagnosis is not wholly right: what had failed, and what the report named."""
    return [_row(outcome) for outcome in outcomes if _is_missed(outcome)]


def changed_rows(changes: Iterable[ChangedOutcome]) -> list[dict[str, str]]:
    """A row for each incident with another outcome: what the report named before and now."""
    return [
        {
            "incident": told_of(change.after).incident,
            "had failed": _listed(told_of(change.after).causes),
            "named before": _named(told_of(change.before).given),
            "named now": _named(told_of(change.after).given),
        }
        for change in changes
    ]


def told_of(outcome: QuestionOutcome) -> Diagnosed:
    """What the outcome of an incident tells."""
    return Diagnosed.model_validate(outcome.detail)


def _group(incident: Incident, types: Mapping[str, str]) -> str:
    """The group of incidents that it is shown in; no type can be named like one of the others."""
    if not incident.causes:
        return "no common cause"
    return f"cause: {types[incident.causes[0]]}" if len(incident.causes) == 1 else "several causes"


def _is_missed(outcome: QuestionOutcome) -> bool:
    return any(outcome.values.get(name, 1.0) < 1 for name in (*TELLING["diagnosis"], "planned work"))


def _row(outcome: QuestionOutcome) -> dict[str, str]:
    told = told_of(outcome)
    candidates = ", ".join(f"{each.id} {each.probability:.0%}" for each in told.given.ranked[:_SHOWN])
    return {
        "incident": told.incident,
        "had failed": _listed(told.causes),
        "named": _named(told.given),
        "candidates": candidates,
        "asked": " ".join(outcome.asked.split())[:_CHARACTERS],
    }


def _named(given: GivenDiagnosis) -> str:
    return f"failed: {given.failure}" if given.failure else _listed(given.named)


def _listed(ids: Sequence[str]) -> str:
    return ", ".join(ids) or "no common cause"
