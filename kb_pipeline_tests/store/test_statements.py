"""Statements are found by the rare words that they share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kb_pipeline.steps.agreement.statements import statements_of
from kb_pipeline.store.statements import StatementStore
from kb_pipeline_tests.steps.agreement.articles import section

EXPIRY = "The passwords of all agents expire after 90 days."
LATER = "As a rule, passwords of agents expire after 60 days."
OTHER = "The invoices of all customers are due after 30 days."


@pytest.fixture
def kept(tmp_path: Path) -> Iterator[StatementStore]:
    statements = StatementStore(tmp_path / "statements.sqlite")
    for article_id, text in (("alpha", EXPIRY), ("beta", LATER), ("gamma", OTHER)):
        statements.replace(article_id, "v1", article_id, statements_of([section(text, article_id=article_id)]))
    yield statements
    statements.close()


def test_what_shares_rare_words_is_alike(kept: StatementStore) -> None:
    of_alpha, of_beta, of_gamma = kept.not_compared()
    assert kept.like(of_alpha) == [of_beta]
    assert kept.like(of_gamma) == []
    assert kept.like(of_alpha, in_own_article=True) == []


def test_words_are_weighed_by_the_articles_that_have_them(kept: StatementStore) -> None:
    weights = kept.weights()
    assert (weights.articles["expir"], weights.articles["invoic"], weights.total) == (2, 1, 3)
    assert weights.of(["invoic"]) == 1
    assert weights.of(["expir"]) < 1


def test_a_finding_is_kept_once_and_goes_with_either_statement(kept: StatementStore) -> None:
    of_alpha, of_beta, _ = kept.not_compared()
    kept.record([of_alpha.key], [(of_alpha.key, of_beta.key, "number", "90 days", "60 days")], "run-1")
    kept.record([of_beta.key], [(of_beta.key, of_alpha.key, "number", "60 days", "90 days")], "run-2")
    (finding,) = kept.findings()["beta"]
    assert (finding.here.says, finding.there.says, finding.run_id) == ("60 days", "90 days", "run-1")
    assert kept.findings(["gamma"]) == {}
    kept.replace("beta", "v2", "beta", [])
    assert kept.findings() == {}
    assert kept.versions() == {"alpha": "v1", "beta": "v2", "gamma": "v1"}
