"""Evaluates the diagnosis: investigates the recorded incidents of a scenario by rules, as one run of its history.

The rules find the causes, also where a model words the report, so this costs nothing and gives the same every time.
"""

import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path

from app.network.by_rules import Case, RulesInvestigator
from app.network.reading import read_network
from kb_pipeline.errors import ScenarioError
from kb_pipeline.evaluation.diagnosis import GivenDiagnosis, Suspect, diagnosis_outcome, diagnosis_run, told_of
from kb_pipeline.evaluation.history import load_outcomes, load_run
from kb_pipeline.evaluation.measures import mean_scores
from kb_pipeline.evaluation.provenance import code_hash
from kb_pipeline.evaluation.records import Evaluation, EvaluationRun, QuestionOutcome
from kb_pipeline.network.incidents import Incident, incidents_of_tickets, read_incidents
from kb_pipeline.network.knowledge import read_documents
from kb_pipeline.network.opening import configured_scenario, open_store
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import fingerprint

_APP = Path(__file__).parents[1]
_DIAGNOSING = ("network", "evaluating/diagnosing.py")
_READING = ("network", "evaluation/diagnosis.py")
_KEPT = 10
"""Candidates that are kept of a diagnosis."""

IncidentSets = Mapping[str, tuple[Incident, ...]]
"""Incidents by where they are from: the file of incidents, or tickets."""


async def evaluate_diagnosis(knowledge_base: Settings, scenario: str, at: str) -> Evaluation:
    """The evaluation of the diagnosis of all incidents of a scenario whose causes are known.

    A run without failures in the same state of everything is read from the history instead. Writes nothing.

    Raises:
        ScenarioError: the scenario is not loaded, its incidents cannot be used, or none could be diagnosed.
    """
    folder = configured_scenario(knowledge_base, scenario)
    store = open_store(knowledge_base, folder)
    try:
        version = (await store.health()).version
        network = await read_network(store, folder.scenario)
        types = dict(zip(network.ids, network.types, strict=True))
        sets = _incidents(folder, types)
        run = _run(knowledge_base, folder, version, sets, at)
        if earlier := load_run(knowledge_base, run.id, run.scenario):
            return Evaluation(earlier.model_copy(update={"seen_at": at}), load_outcomes(knowledge_base, earlier))
        started = time.perf_counter()
        outcomes = await _outcomes(RulesInvestigator(store, folder, knowledge_base.window_minutes), sets, types)
        return _measured(run, outcomes, at, time.perf_counter() - started)
    finally:
        await store.close()


def _incidents(folder: ScenarioFolder, types: Mapping[str, str]) -> IncidentSets:
    """Return the incidents of the file and of tickets.

    Raises:
        ScenarioError: a line of the file, or a ticket, cannot be used.
    """
    recorded = read_incidents(folder, types)
    tickets = read_documents(folder).tickets.values()
    return {
        "incidents": recorded,
        "tickets": tuple(incidents_of_tickets(tickets, types, [each.incident for each in recorded])),
    }


def _run(settings: Settings, folder: ScenarioFolder, version: str, sets: IncidentSets, at: str) -> EvaluationRun:
    root = folder.folder.resolve()
    return diagnosis_run(
        folder.scenario.name,
        version,
        tickets={path.name: folder.hash(str(path.relative_to(root))) for path in folder.documents("tickets")},
        sets=sets,
        settings={"network": settings.network, "window_minutes": str(settings.window_minutes)},
        code=fingerprint(code_hash(_READING), code_hash(_DIAGNOSING, _APP))[:16],
        at=at,
    )


async def _outcomes(rules: RulesInvestigator, sets: IncidentSets, types: Mapping[str, str]) -> list[QuestionOutcome]:
    """Return the outcomes of all incidents, one after the other. Of tickets, those whose alerts are still there."""
    outcomes = []
    for name, incidents in sets.items():
        for incident in incidents:
            case = Case(incident.asked)
            given = await _diagnosed(rules, case)
            if name != "tickets" or case.alerts.num_rows:
                outcomes.append(diagnosis_outcome(incident, name, types, given))
    return outcomes


async def _diagnosed(rules: RulesInvestigator, case: Case) -> GivenDiagnosis:
    """Return what the rules find. If a step fails there is no diagnosis: it would be judged by half of the data."""
    started = time.perf_counter()
    steps = await rules.gather_evidence(case)
    seconds = round(time.perf_counter() - started, 3)
    failures = [str(step.data["response"]) for step in steps if step.data.get("error")]
    if failures or case.network is None or case.diagnosis is None:
        return GivenDiagnosis(failure="; ".join(failures) or "there is no diagnosis", seconds=seconds)
    ids, ranking = case.network.ids, case.diagnosis.ranking
    return GivenDiagnosis(
        ranked=tuple(Suspect(id=ids[each.vertex], probability=each.probability) for each in ranking.causes[:_KEPT]),
        named=tuple(ids[each.vertex] for each in ranking.chosen),
        is_alone=case.diagnosis.is_alone,
        planned=tuple(dict.fromkeys(ids[each] for each in case.diagnosis.maintenance)),
        seconds=seconds,
    )


def _measured(run: EvaluationRun, outcomes: list[QuestionOutcome], at: str, seconds: float) -> Evaluation:
    """Return the run with its scores. One with failures gets an id of its own, so that it is measured again.

    Raises:
        ScenarioError: no incident could be diagnosed.
    """
    failures = [given.failure for each in outcomes if (given := told_of(each).given).failure]
    if failures and len(failures) == len(outcomes):
        raise ScenarioError(f"no incident of {run.scenario} could be diagnosed: {failures[0]}")
    counted = Counter(each.question_set for each in outcomes)
    measured = {
        "id": f"diagnosis-{fingerprint(run.id, at)[:16]}" if failures else run.id,
        "question_sets": tuple(
            each.model_copy(update={"questions": counted[each.name]})
            for each in run.question_sets
            if counted[each.name]
        ),
        "scores": mean_scores(outcomes),
        "seconds": round(seconds, 3),
    }
    return Evaluation(run.model_copy(update=measured), tuple(outcomes))
