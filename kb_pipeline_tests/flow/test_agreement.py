"""What the published articles state is compared when it is new, and forgotten with its article."""

import pytest

from kb_pipeline.errors import StorageError
from kb_pipeline.flow.agreement import compare_published, findings_in, statements_path
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.settings import Settings
from kb_pipeline.steps.agreement.findings import Finding
from kb_pipeline.store.state import load_states
from kb_pipeline.upkeep.remove import remove_all
from kb_pipeline_tests.conftest import Article, Build

PAGE = "<body><h1>{}</h1><p>{}</p></body>"
EXPIRY = PAGE.format("Passwords", "The passwords of all agents expire after 90 days.")
LATER = PAGE.format("Onboarding", "As a rule, passwords of agents expire after {} days.")


@pytest.fixture
def published(article: Article, build_here: Build) -> None:
    article("alpha", EXPIRY)
    article("beta", LATER.format(60))
    build_here()


def compare(settings: Settings, run_id: str = "run-1") -> dict[str, list[Finding]]:
    workspace = open_workspace(settings)
    compare_published(workspace, load_states(workspace.layout), run_id)
    return findings_in(workspace.layout)


def test_both_articles_are_told_of_both_statements(published: None, settings: Settings) -> None:
    found = compare(settings)
    assert found.keys() == {"alpha", "beta"}
    (of_alpha,), (of_beta,) = found["alpha"], found["beta"]
    assert (of_alpha.kind, of_alpha.here.says, of_alpha.there.says) == ("number", "90 days", "60 days")
    assert of_alpha.there.text == "As a rule, passwords of agents expire after 60 days."
    assert (of_beta.here, of_beta.there) == (of_alpha.there, of_alpha.here)
    assert of_alpha.run_id == "run-1"


def test_what_is_unchanged_is_not_compared_again(
    published: None, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = compare(settings)
    monkeypatch.setattr("kb_pipeline.flow.agreement.compared", None)
    monkeypatch.setattr("kb_pipeline.flow.agreement.load_chunks", None)
    assert compare(settings, "run-2") == before


def test_an_article_that_changes_is_compared_anew(
    published: None, article: Article, build_here: Build, settings: Settings
) -> None:
    compare(settings)
    article("beta", LATER.format(30))
    build_here("beta", run_id="run-2")
    (of_alpha,) = compare(settings, "run-2")["alpha"]
    assert (of_alpha.there.says, of_alpha.run_id) == ("30 days", "run-2")
    article("beta", LATER.format(90))
    build_here("beta", run_id="run-3")
    assert compare(settings, "run-3") == {}


def test_a_removed_article_takes_its_findings_along(published: None, settings: Settings) -> None:
    compare(settings)
    remove_all(open_workspace(settings), ["beta"])
    assert compare(settings) == {}


def test_the_file_can_be_removed_and_one_that_is_damaged_says_so(published: None, settings: Settings) -> None:
    before = compare(settings)
    path = statements_path(settings.home_path)
    path.unlink()
    assert findings_in(open_workspace(settings).layout) == {}
    assert compare(settings) == before
    path.write_bytes(b"damaged " * 1000)
    with pytest.raises(StorageError, match="remove it: it is made again"):
        compare(settings)


def test_nothing_is_kept_of_nothing(settings: Settings) -> None:
    assert compare(settings) == {}
    assert not statements_path(settings.home_path).exists()
