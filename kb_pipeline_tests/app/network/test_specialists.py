"""What the tools of the graph explorer and the telemetry agent tell a model, on the sample scenario."""

import asyncio
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path
from typing import Any

import pytest

from app.callers.principal import Principal
from app.grounding.citations import CitationBook
from app.library.retrieval import Retrieval
from app.network import prompts
from app.network.by_rules import Case
from app.network.specialists import CONSULTATION, Consultation, DataTools, SpecialistTools
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.network.base import QueryLimits
from kb_pipeline.network.loading import load
from kb_pipeline.network.local.store import LocalStore
from kb_pipeline.network.scenario import ScenarioFolder
from kb_pipeline.settings import Settings

SAMPLE = Path(__file__).parents[3] / "samples" / "scenarios" / "telco"
BROKEN = {"since": "2026-11-02T03:40:00Z", "until": "2026-11-02T03:45:40Z"}
Call = Callable[..., str]


@pytest.fixture
def tools(settings: Settings, tmp_path: Path) -> Iterator[DataTools]:
    load(ScenarioFolder(SAMPLE), tmp_path)
    store, retrieval = LocalStore(tmp_path, "telco"), Retrieval(Workspace(settings))
    yield DataTools(
        SpecialistTools(
            store=store,
            scenario=ScenarioFolder(SAMPLE),
            limits=QueryLimits(),
            retrieval=retrieval,
            who=Principal("local"),
            book=CitationBook(),
            case=Case("LINK_DOWN on LINK-SYD-MEL"),
            searches=3,
            top=5,
        )
    )
    retrieval.close()
    asyncio.run(store.close())


@pytest.fixture
def consultation() -> Consultation:
    return Consultation(left=6)


@pytest.fixture
def call(consultation: Consultation) -> Call:
    def called(tool: Callable[..., Coroutine[Any, Any, str]], **arguments: object) -> str:
        async def within() -> str:
            CONSULTATION.set(consultation)
            return await tool(**arguments)

        return asyncio.run(within())

    return called


def test_the_neighbourhood_of_an_element_names_elements_with_their_types_and_edges(
    tools: DataTools, call: Call
) -> None:
    said = call(tools.neighbourhood, ids=["LINK-SYD-MEL"], depth=1, direction="down")
    assert "MPLS-SYD-MEL-1 (MPLSPath)" in said
    assert "CORE-SYD-01" not in said


def test_a_metric_is_told_beside_its_own_past(tools: DataTools, call: Call, consultation: Consultation) -> None:
    said = call(tools.baseline, entity="LINK-SYD-MEL", metric="bit_error_rate", **BROKEN)
    assert '"out of its baseline": true' in said
    assert '"now": 0.001' in said
    assert consultation.queries == [
        "baseline of bit_error_rate of LINK-SYD-MEL, 2026-11-02T03:40:00Z to 2026-11-02T03:45:40Z"
    ]


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({"metric": "jitter"}, "there is no metric 'jitter'; there are: bit_error_rate, latency_ms"),
        ({"entity": "LINK-NOWHERE"}, "'LINK-NOWHERE' has too few measurements of bit_error_rate"),
        ({"since": "yesterday"}, "since"),
    ],
    ids=["metric", "element", "time"],
)
def test_a_question_about_nothing_says_what_to_ask_instead(
    tools: DataTools, call: Call, consultation: Consultation, asked: dict[str, str], told: str
) -> None:
    said = call(tools.baseline, **{"entity": "LINK-SYD-MEL", "metric": "bit_error_rate", **BROKEN, **asked})
    assert "error: " in said and told in said
    assert consultation.queries == []


@pytest.mark.slow("waits for a silent or slow service")
def test_a_query_that_fails_is_told_and_counts(tools: DataTools, call: Call, consultation: Consultation) -> None:
    assert "error: " in call(tools.query_telemetry, query="SELECT nothing FROM alerts")
    assert "LINK-SYD-MEL" in call(tools.query_telemetry, query="SELECT source_id FROM alerts")
    assert (consultation.left, consultation.queries) == (4, ["SELECT source_id FROM alerts"])


def test_a_consultation_ends_with_its_calls(tools: DataTools, call: Call, consultation: Consultation) -> None:
    consultation.left = 0
    assert call(tools.query_graph, query="SELECT id FROM vertices") == prompts.NO_MORE_CALLS


@pytest.mark.slow("waits for a silent or slow service")
def test_a_long_result_is_cut_and_says_so(tools: DataTools, call: Call) -> None:
    said = call(tools.query_telemetry, query="SELECT * FROM link_metrics LIMIT 500")
    assert "ask for less" in said and len(said) < 9000
