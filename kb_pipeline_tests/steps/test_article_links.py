"""Links to other staged articles are recognised in both ways documentation links its pages."""

import pytest

from kb_pipeline.records import Link
from kb_pipeline.steps.article_links import article_links, name_index

STAGED = [
    "create-a-ticket",
    "sla-policies",
    "Release 2.4",
    "connect-an-email-channel",
    "rest-api",
    "Price list.pdf",
    "Stock.xlsx",
    "Tour.html",
]
GUIDE = ["guide-gimp-tool-crop", "guide-gimp-tool-path", "guide-intro", "guide-gimp-intro"]


def resolved(target: str, own: str = "create-a-ticket") -> list[str]:
    links = article_links([Link(label="see", target=target)], own, name_index([*STAGED, *GUIDE]))
    return [link.article_id for link in links]


@pytest.mark.parametrize(
    ("target", "article_id"),
    [
        ("../sla-policies/index.html", "sla-policies"),
        ("../sla-policies/index.html#escalation", "sla-policies"),
        ("../sla-policies/", "sla-policies"),
        ("../sla-policies", "sla-policies"),
        ("sla-policies.html", "sla-policies"),
        ("sla-policies.HTM", "sla-policies"),
        ("./sla-policies.xhtml", "sla-policies"),
        ("../sla-policies.html", "sla-policies"),
        ("../guide/sla-policies.html", "sla-policies"),
        ("../Release%202.4/index.html", "Release 2.4"),
        ("../Release%202.4/release.pdf#page=3", "Release 2.4"),
        ("sla-policies/policies.DOCX", "sla-policies"),
        ("../sla-policies/index.md", "sla-policies"),
        ("../Price%20list.pdf#page=2", "Price list.pdf"),
        ("price list.pdf", "Price list.pdf"),
        ("../Stock.xlsx", "Stock.xlsx"),
        ("../sla-policies/policies.odt", "sla-policies"),
        ("Tour.html#end", "Tour.html"),
        ("../tour.html", "Tour.html"),
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
        "/sla-policies/",
        "/sla-policies.html",
        "../../sla-policies.html",
        "../../sla-policies/index.html",
        "sla-policies.pdf",
        "sla-policies.md",
        "../price-list.pdf",
        "tour.htm",
        "../guide/Tour.html",
        "images/policies.pdf",
        "/Price%20list.pdf",
        "sla-policies.png",
        "images/sla-policies.png",
        "../index.html",
        "channel.html",
        "channel.pdf",
        "/pricing/api/",
        "images/api.png",
        "gimp-tool-crop.html",
    ],
)
def test_targets_that_lead_elsewhere(target: str) -> None:
    assert resolved(target) == []


@pytest.mark.parametrize("target", ["gimp-tool-crop.html", "../en/gimp-tool-crop.html#options", "tool-crop.htm"])
def test_a_published_page_name_leads_to_the_article_of_the_same_set(target: str) -> None:
    assert resolved(target, "guide-gimp-tool-path") == ["guide-gimp-tool-crop"]


@pytest.mark.parametrize(
    "target", ["gimp-tool-crop", "/gimp-tool-crop.html", "gimp-tool-crop.pdf", "../gimp-tool-crop/"]
)
def test_only_a_relative_page_is_looked_for_in_the_same_set(target: str) -> None:
    assert resolved(target, "guide-gimp-tool-path") == []


def test_a_name_that_fits_two_articles_is_not_guessed() -> None:
    assert resolved("intro.html", "guide-gimp-tool-path") == []


def test_a_link_to_the_article_itself_is_none() -> None:
    assert resolved("../create-a-ticket/index.html#steps") == []


def test_the_same_link_counts_once_and_keeps_its_target_as_written() -> None:
    link = Link(label="SLA", target="../sla-policies/index.html#a")
    found = article_links([link, link], "create-a-ticket", name_index(STAGED))
    assert [(entry.label, entry.target) for entry in found] == [("SLA", "../sla-policies/index.html#a")]
