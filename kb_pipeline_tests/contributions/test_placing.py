"""Where a contribution goes, and that nothing else in the file changes."""

import json
from pathlib import Path

import pytest
from upath import UPath

from kb_pipeline.contributions.placing import (
    Target,
    find_target,
    has_section,
    insert,
    notes_title,
    target_section,
)
from kb_pipeline.errors import ContributionError, UnreadableArticleError
from kb_pipeline.intake.folders import ArticleFolders
from kb_pipeline.settings import Settings
from kb_pipeline.store.staging import Staging

RESTRICTED = b'{"access_control_list": ["hr"]}'
NOTE = "*Contributed by ann (contribution 20260101-0000000a).*"
ARTICLE = (
    "---\ntitle: Cosmos DB\n---\n# Cosmos DB\n\nIntro\n\n## Patterns\n\nOne.\n\n### Deep\n\nTwo.\n\n\n## Tools\nThree"
)


def put(text: str, section: str = "Patterns", content: str = "New *text*.") -> str:
    return insert(text, section, "A pitfall", content, NOTE)


def test_it_stands_at_the_end_of_its_section_and_all_other_bytes_are_as_before() -> None:
    before, after = ARTICLE.split("\n\n\n## Tools")
    added = f"\n\n### A pitfall\n\nNew *text*.\n\n{NOTE}"
    assert put(ARTICLE) == f"{before}{added}\n\n\n## Tools{after}"


def test_a_section_that_is_missing_comes_last() -> None:
    assert put(ARTICLE, "Common Pitfalls") == (
        f"{ARTICLE}\n\n## Common Pitfalls\n\n### A pitfall\n\nNew *text*.\n\n{NOTE}\n"
    )


@pytest.mark.parametrize(
    ("text", "section"),
    [
        ("# A\n\n## common  PITFALLS ##\n\ntext\n", "Common Pitfalls"),
        ("A\n=\n\nCommon Pitfalls\n---\n\ntext\n", "Common Pitfalls"),
        ("# A\n\n## **Common** `Pitfalls`\n", "Common Pitfalls"),
        ("\ufeff# Common Pitfalls\n", "common pitfalls"),
    ],
)
def test_a_section_is_known_by_its_words(text: str, section: str) -> None:
    assert has_section(text, section)
    assert put(text, section).startswith(text.rstrip())


@pytest.mark.parametrize(
    "text",
    [
        "# A\n\n```\n## Patterns\n```\n",
        "---\nx: 1\n## Patterns\n---\ntext",
        "# A\n\n> ## Patterns\n",
        "<!--\n## Patterns\n-->",
    ],
)
def test_what_only_looks_like_a_heading_is_none(text: str) -> None:
    assert not has_section(text, "Patterns")


def test_line_ends_and_a_following_heading_are_kept() -> None:
    crlf = put("# A\r\n\r\n## Patterns\r\ntext\r\nNext\r\n====\r\n", "Patterns")
    assert crlf.count("\n") == crlf.count("\r\n")
    closely = put("# A\n## Patterns\nB\n=\ntext\n")
    assert closely == f"# A\n## Patterns\n\n### A pitfall\n\nNew *text*.\n\n{NOTE}\n\nB\n=\ntext\n"


def test_content_with_a_title_of_its_own_needs_no_other() -> None:
    assert put("## Patterns\n", content="## Why\n\nx") == f"## Patterns\n\n### A pitfall\n\n#### Why\n\nx\n\n{NOTE}\n"
    assert put("## Patterns\n", content="# Retry\n\n## Why\n\nx") == (
        f"## Patterns\n\n### Retry\n\n#### Why\n\nx\n\n{NOTE}\n"
    )


@pytest.mark.parametrize("closing", ["# Patterns\n\nx", "## Tools\n\nx", "Tools\n---\n\nx", "x\n\n# Tools"])
def test_content_that_closes_the_section_stays_in_it(closing: str) -> None:
    changed = put(ARTICLE, content=closing)
    assert changed.endswith("\n\n\n## Tools\nThree")
    assert changed.count("\n## ") == ARTICLE.count("\n## ")
    assert changed.count("\n# ") == ARTICLE.count("\n# ")


@pytest.mark.parametrize("open_block", ["```\ncode", "<!-- not closed", "<script>"])
def test_a_file_with_an_open_block_is_refused(open_block: str) -> None:
    with pytest.raises(ContributionError, match="not closed"):
        put(f"# A\n\n## Patterns\n\n{open_block}\n")


@pytest.fixture
def staging(tmp_path: Path) -> Staging:
    for article_id, files in {
        "cosmos-db": {"index.md": ARTICLE},
        "web": {"index.html": "<p>x</p>", "metadata.json": '{"access_control_list": ["hr"]}'},
        "guide": {"guide.md": "# Guide"},
        "both": {"index.md": "# A", "other.md": "# B"},
        "manual": {"manual.pdf": "%PDF-"},
        "manual-notes": {"index.html": "<p>x</p>"},
        "hr": {"hr.md": "# HR", "metadata.json": '{"access_control_list": ["hr"]}'},
        "hr-notes": {"index.md": "# Notes"},
        "hidden": {"index.html": "<p>x</p>", "metadata.json": "{"},
        "empty": {},
    }.items():
        (tmp_path / article_id).mkdir()
        for name, text in files.items():
            (tmp_path / article_id / name).write_text(text)
    return Staging(UPath(tmp_path))


def test_an_article_in_markdown_is_added_to_and_a_new_one_is_made(staging: Staging) -> None:
    assert find_target(staging, "cosmos-db") == Target("cosmos-db", ARTICLE)
    assert find_target(staging, "key-vault") == Target("key-vault", None)
    assert find_target(staging, "empty") == Target("empty", None)


def test_beside_any_other_article_stand_notes_with_the_same_readers(staging: Staging) -> None:
    web = find_target(staging, "web")
    assert (web.article_id, web.text) == ("web-notes", None)
    assert json.loads(web.metadata or "") == {"access_control_list": ["hr"]}
    assert find_target(staging, "guide") == Target("guide-notes", None)


def test_beside_an_article_of_a_source_stand_notes_which_its_next_change_does_not_overwrite(staging: Staging) -> None:
    taken_in = ArticleFolders("wiki", Settings(staging=str(staging.root)))
    taken_in.write("wiki-pumps", "Pumps", {"index.md": b"# Pumps\n", "metadata.json": RESTRICTED})
    notes = find_target(staging, "wiki-pumps")
    assert (notes.article_id, notes.text) == ("wiki-pumps-notes", None)
    assert json.loads(notes.metadata or "") == {"access_control_list": ["hr"]}


def test_what_may_not_be_written_to_is_refused(staging: Staging) -> None:
    with pytest.raises(ContributionError, match="neither manual nor manual-notes"):
        find_target(staging, "manual")
    with pytest.raises(ContributionError, match="hr-notes may be read by people who may not read hr"):
        find_target(staging, "hr")
    with pytest.raises(UnreadableArticleError, match=r"metadata\.json is not valid"):
        find_target(staging, "hidden")
    with pytest.raises(UnreadableArticleError, match="2 documents could be the article"):
        find_target(staging, "both")


def test_each_type_has_a_section(staging: Staging) -> None:
    target = find_target(staging, "cosmos-db")
    assert target_section(target, "Pitfall", "") == "Common Pitfalls"
    assert target_section(target, "Service pattern update", "") == "Patterns"
    assert target_section(target, "Tool pattern", "") == "Tools"
    assert target_section(target, "Language pattern", "") == "Languages"
    assert target_section(target, "Pitfall", "## Configuration ") == "Configuration"
    assert target_section(find_target(staging, "key-vault"), "New service", "") == ""
    with pytest.raises(ContributionError, match="is there already"):
        target_section(target, "New service", "")


@pytest.mark.parametrize(
    ("service", "title", "notes"),
    [
        ("layers", "Work with layers", "Work with layers: notes"),
        ("manual.pdf", " Pump\nmanual ", "Pump manual: notes"),
        ("rest-api", "", "Rest api: notes"),
    ],
)
def test_the_article_beside_another_is_titled_after_it(service: str, title: str, notes: str) -> None:
    assert notes_title(service, title) == notes
