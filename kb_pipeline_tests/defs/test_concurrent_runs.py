"""Two runs on the same articles at once, each in a process of its own."""

import dagster as dg
import pytest

from kb_pipeline.flow.layers import LAYER_NAMES
from kb_pipeline.settings import Settings
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.defs.conftest import GOOD
from kb_pipeline_tests.defs.runs import end_of, failed, materialized, shown, start
from kb_pipeline_tests.pictures import screenshot
from kb_pipeline_tests.served import assert_consistent, index_rows, state_of

pytestmark = pytest.mark.rare("two whole runs at once")


def test_both_succeed_and_nothing_is_doubled(
    instance: dg.DagsterInstance, article: Article, settings: Settings
) -> None:
    names = [f"article-{number}" for number in range(8)]
    for name in names:
        article(name, GOOD, {"a.image": screenshot(name)})
    for process in [start(instance, "ingest_articles") for _ in range(2)]:
        end_of(process)
    assert set(instance.get_dynamic_partitions("articles")) == set(names)
    for layer in LAYER_NAMES:
        assert materialized(instance, layer) == set(names)
        assert failed(instance, layer) == set()
    rows = [row["id"] for row in index_rows(settings)]
    assert len(rows) == len(set(rows)) == 3 * len(names)  # a section, its picture and the article as a whole
    for name in names:
        assert_consistent(settings, name)
        assert len(state_of(settings, name).published) == 1
    told = shown(instance, "index_state")
    assert (told["articles"], told["doubled_entries"], told["good"]) == (8, 0, True)
