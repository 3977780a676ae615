"""How many events an ingest leaves in Dagster's history, and how large they are: it is written for every article."""

import dagster as dg
import pytest

from kb_pipeline.flow.layers import LAYER_NAMES
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.defs.conftest import GOOD
from kb_pipeline_tests.defs.runs import execute

MADE_BYTES = 36_500
REUSED_BYTES = 25_500
"""Of all events of an article of one section and one image."""


def told(instance: dg.DagsterInstance, run_id: str) -> dict[str, list[int]]:
    """Sizes of the events about each article."""
    sizes: dict[str, list[int]] = {}
    for entry in instance.all_logs(run_id):
        if entry.is_dagster_event and (article_id := entry.get_dagster_event().partition):
            sizes.setdefault(article_id, []).append(len(dg.serialize_value(entry)))
    return sizes


@pytest.mark.slow("a run of Dagster")
def test_an_article_leaves_one_event_for_each_layer_and_none_twice(
    instance: dg.DagsterInstance, three: list[str], article: Article
) -> None:
    for words, most in (("tickets", MADE_BYTES), ("tickets", REUSED_BYTES), ("queues", MADE_BYTES)):
        article("beta", GOOD.replace("tickets", words))
        events = told(instance, execute(instance, "ingest_articles").run_id)
        assert {name: len(sizes) for name, sizes in events.items()} == dict.fromkeys(three, len(LAYER_NAMES))
        assert max(sum(sizes) for sizes in events.values()) <= most
    alone = told(instance, execute(instance, "ingest_articles", articles=["gamma"]).run_id)
    assert {name: len(sizes) for name, sizes in alone.items()} == {"gamma": len(LAYER_NAMES)}
