"""Whole articles: what a service damages is restored, what it loses is told, and nothing it writes takes long."""

import random
import time
from collections.abc import Callable

import pytest

from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.records import ConvertedArticle
from kb_pipeline.steps.checks import check_conversion
from kb_pipeline.steps.markers import find_markers
from kb_pipeline.steps.restore import restore_article
from kb_pipeline_tests.steps.restore.services import (
    misread,
    sample,
    sample_names,
    with_markers,
    with_other_levels,
    with_page_breaks,
    without_links,
    without_markers,
)

ALTERED = ["[[IMG: {}]]", r"\[\[IMG:{}\]\]", "[IMG:{}]]", "[[1MG:{}]", "[ [IMG:{}] ]", "[[lmg;{}]]"]
Damage = Callable[[ConvertedArticle, random.Random], str]
DAMAGES: dict[str, Damage] = {
    "nothing": lambda article, _: article.markdown,
    "plain names": lambda article, _: with_markers(article, "[[IMG:{}]]".format),
    "markers altered": lambda article, chance: with_markers(article, lambda name: chance.choice(ALTERED).format(name)),
    "markers lost": lambda article, _: without_markers(article.markdown),
    "links lost": lambda article, _: without_links(article.markdown),
    "levels changed": lambda article, chance: with_other_levels(article.markdown, chance),
    "pages broken": lambda article, chance: with_page_breaks(article.markdown, chance),
    "all at once": lambda article, chance: with_page_breaks(
        with_other_levels(without_links(without_markers(article.markdown)), chance), chance
    ),
}


def squeezed(markdown: str) -> str:
    """Without the line breaks that tell an image in a line of its own from one in the line before it."""
    return " ".join(markdown.split())


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize("name", sample_names())
@pytest.mark.parametrize("damage", DAMAGES)
def test_damage_is_restored(damage: str, name: str) -> None:
    article = sample(name)
    found = restore_article(article, DAMAGES[damage](article, random.Random(name)), "a-service-1")
    assert squeezed(found.markdown) == squeezed(article.markdown)
    assert found.unplaced_images == 0
    assert all(result.passed for result in check_conversion(found))


@pytest.mark.parametrize("name", sample_names())
def test_misread_text_costs_no_image_and_no_link(name: str) -> None:
    article = sample(name)
    read = misread(without_links(without_markers(article.markdown)), random.Random(name))
    found = restore_article(article, read, "a-service-1")
    assert [marker.file for marker in find_markers(found.markdown)] == [
        marker.file for marker in find_markers(article.markdown)
    ]
    assert all(result.passed for result in check_conversion(found))
    assert not [warning for warning in found.warnings if "without a place" in warning]


def test_lost_text_is_told_and_fails_a_check() -> None:
    article = sample("webhooks")
    blocks = article.markdown.split("\n\n")
    found = restore_article(article, "\n\n".join(blocks[: len(blocks) // 2]), "a-service-1")
    assert any("words of the source were not found" in warning for warning in found.warnings)
    assert any("letters lost" in result.message for result in check_conversion(found) if not result.passed)


@pytest.mark.parametrize("nothing", ["", " \n", "![x](y)", "<!-- PageBreak -->"])
def test_an_answer_without_text_fails_a_check(nothing: str) -> None:
    article = sample("webhooks")
    found = restore_article(article, nothing, "a-service-1")
    assert not all(result.passed for result in check_conversion(found))


HOSTILE = {
    "one marker": "[[IMG:{}]] ",
    "marker lines": "[[IMG:{}]]\n\n",
    "brackets": "[[IMG:",
    "links": "[a](b) ",
    "quotes": ">",
    "lists": "- ",
    "tables": "<table><tr><td>",
    "rows": "| a | b |\n",
    "stars": "*a **b ",
    "backticks": "`a ``b ",
    "comments": "<!-- ",
    "code": "<pre><code>",
    "fences": "```\n",
    "headings": "# a\n\n",
    "entities": "&lt;b&gt;&#0;",
    "one word": "the ",
}


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.parametrize("kind", HOSTILE)
def test_no_answer_takes_long(kind: str) -> None:
    article = sample("write-an-article")
    piece = HOSTILE[kind].format(article.images[0].file)
    started = time.process_time()
    try:
        found = restore_article(article, piece * (20_000 // len(piece)), "a-service-1")
    except KnowledgeBaseError:
        pass
    else:
        assert len(list(find_markers(found.markdown))) == article.counts.images
    assert time.process_time() - started < 7
