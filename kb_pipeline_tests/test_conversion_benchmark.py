"""What `benchmarks.conversion` does to pages before they are scored loses nothing; it pools what was counted."""

from pathlib import Path

import pytest

from benchmarks.conversion import table
from benchmarks.converters.ours import convert, with_images
from benchmarks.converters.scoring import MEASURES, pooled, spell_out_markdown, spell_out_source
from benchmarks.converters.timing import convert_all

SAMPLE = Path(__file__).parents[1] / "samples" / "staging" / "canned-responses"


def page(**kept: tuple[int, int]) -> dict[str, list[int]]:
    return {name: list(kept.get(name, (1, 1))) for name in MEASURES}


def test_markers_become_plain_images_but_not_in_code() -> None:
    markdown = "Press [[IMG:a%20b.png]].\n\n`[[IMG:code.png]]`\n"
    assert with_images(markdown) == "Press ![](images/a%20b.png).\n\n`[[IMG:code.png]]`\n"


def test_our_conversion_reads_an_article_folder() -> None:
    assert "[[IMG:" in convert(SAMPLE)


def test_a_page_that_a_converter_gives_up_is_counted_and_the_others_are_written(tmp_path: Path) -> None:
    pages = [tmp_path / name for name in ("bad", "good")]

    def give_up(article: Path) -> str:
        return {"good": "text"}[article.name]

    took = convert_all(give_up, pages, tmp_path / "out")
    assert (took["pages"], took["failures"]) == (2, 1)
    assert [(tmp_path / "out" / name.name / "article.md").read_text() for name in pages] == ["", "text"]


def test_only_the_link_that_opens_an_image_block_is_respelled(tmp_path: Path) -> None:
    article = tmp_path / "converted" / "a" / "article.md"
    article.parent.mkdir(parents=True)
    block = "- item\n\n  > **[Image: a-b](images/a-b.png)**\n  > A window.\n"
    inline = "See **[Image: c](images/c.png)** here.\n"
    article.write_text(block + inline)
    spelled = spell_out_markdown(tmp_path / "converted", ["a"], tmp_path / "spelled")
    assert (spelled / "a" / "article.md").read_text() == block.replace(
        "**[Image: a-b](images/a-b.png)**", "![](images/a-b.png)"
    ) + inline


def test_the_source_is_the_same_but_for_the_brackets_of_alternative_texts(tmp_path: Path) -> None:
    folder = tmp_path / "staging" / "a"
    folder.mkdir(parents=True)
    (folder / "tip.png").write_bytes(b"pixels")
    (folder / "index.html").write_text('<img src="tip.png" alt="[Tip]" /><p alt="[no]">[Tip]</p>')
    spelled = spell_out_source(tmp_path / "staging", tmp_path / "spelled") / "a"
    assert (spelled / "index.html").read_text() == '<img src="tip.png" alt="Tip" /><p alt="[no]">[Tip]</p>'
    assert (spelled / "tip.png").read_bytes() == b"pixels"


def test_shares_are_pooled_over_pages_not_averaged_and_what_no_page_has_does_not_count() -> None:
    shares = pooled([page(images=(1, 1), tables=(0, 0)), page(images=(0, 3), tables=(0, 0))])
    assert shares["images"] == 0.25
    assert "tables" not in shares
    assert shares["overall"] == pytest.approx((7 + 0.25) / 8)


def test_the_table_begins_with_the_most_faithful() -> None:
    row = {"pages_per_s": 1.0, "cpu_ms_a_page": 1.0, "peak_mb": 1, "failures": 0, "fidelity": pooled([page()])}
    report = {
        "machine": {"cpus": 2, "processor": "any", "python": "3.11"},
        "at": "2026-01-01T00:00:00+00:00",
        "versions": {"pandoc": "3"},
        "articles": {"manual": 2},
        "results": {
            "worse": row | {"corrected": {"images": 0.5, "overall": 0.9}},
            "better": row | {"corrected": {"images": 1.0, "overall": 1.0}},
        },
    }
    rows = [line for line in table(report).splitlines() if line.startswith(("| worse", "| better"))]
    assert [line.split(" | ")[0] for line in rows] == ["| better", "| worse"]
