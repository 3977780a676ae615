"""Before and beside: the estimate of an ingest, the generations of the index."""

import pytest

from kb_pipeline_tests.cli.conftest import Run, page
from kb_pipeline_tests.conftest import Article


@pytest.mark.slow("runs whole commands")
def test_an_estimate_counts_what_would_be_done_and_does_nothing(run: Run, article: Article) -> None:
    article("one", page("One", "Some text."))
    said = run("estimate", "--json")
    assert (said.code, said.json["articles"], said.json["reasons"]) == (0, 1, {"new": 1})
    assert "articles to ingest: 1" in run("estimate").words
    assert run("status", "--json").json["overview"]["articles"] == 0
    run("ingest")
    assert run("estimate", "--json").json["articles"] == 0
    assert run("estimate", "--article", "unknown").code == 2


@pytest.mark.slow("runs whole commands")
def test_generations_and_the_way_back(run: Run, article: Article, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("generations").code == 1
    article("one", page("One", "Some text. " * 40))
    run("ingest")
    (old,) = run("generations", "--json").json
    assert old["use"] == ["live", "current settings"]
    monkeypatch.setenv("KB_CHUNK_MAX_TOKENS", "60")
    assert run("status").code == 1
    assert run("ingest").code == 0
    uses = {generation["id"]: generation["use"] for generation in run("generations", "--json").json}
    assert uses[old["id"]] == ["previous"]
    assert run("generations", "--switch", old["id"]).code == 0
    assert "held back" in run("generations").words
    assert run("generations", "--switch", "nothing").code == 2
