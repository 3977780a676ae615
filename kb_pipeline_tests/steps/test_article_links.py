"""Links to other staged articles are recognised in both ways documentation links its pages."""

import pytest

from kb_pipeline.records import Link
from kb_pipeline.steps.article_links import article_links, suffix_index

STAGED = ["create-a-ticket", "sla-policies", "guide-gimp-tool-crop", "Release 2.4", "one-intro", "two-intro"]


def resolved(target: str, own: str = "create-a-ticket") -> list[str]:
    links = article_links([Link(label="see", target=target)], own, suffix_index(STAGED))
    return [link.article_id for link in links]


@pytest.mark.parametrize(
    ("target", "article_id"),
    [
        ("../sla-policies/index.html", "sla-policies"),
        ("../sla-policies/index.html#escalation", "sla-policies"),
        ("../sla-policies/", "sla-policies"),
        ("../sla-policies", "sla-policies"),
        ("sla-policies.html", "sla-policies"),
        ("gimp-tool-crop.html", "guide-gimp-tool-crop"),
        ("../en/gimp-tool-crop.html#options", "guide-gimp-tool-crop"),
        ("../Release%202.4/index.html", "Release 2.4"),
    ],
)
def test_targets_that_are_staged(target: str, article_id: str) -> None:
    assert resolved(target) == [article_id]


@pytest.mark.parametrize(
    "target",
    [
        "https://example.com/sla-policies/index.html",
        "mailto:sla-policies@example.com",
        "//example.com/sla-policies",
        "#sla-policies",
        "",
        "..",
        "../unknown/index.html",
        "http://[broken",
    ],
)
def test_targets_that_lead_elsewhere(target: str) -> None:
    assert resolved(target) == []


def test_a_name_that_fits_two_articles_is_not_guessed() -> None:
    assert resolved("intro.html") == []


def test_a_link_to_the_article_itself_is_none() -> None:
    assert resolved("../create-a-ticket/index.html#steps") == []


def test_the_same_link_counts_once_and_keeps_its_target_as_written() -> None:
    link = Link(label="SLA", target="../sla-policies/index.html#a")
    found = article_links([link, link], "create-a-ticket", suffix_index(STAGED))
    assert [(entry.label, entry.target) for entry in found] == [("SLA", "../sla-policies/index.html#a")]
