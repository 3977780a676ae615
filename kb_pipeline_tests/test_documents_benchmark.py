"""What `benchmarks.documents` counts in a long PDF and reads with our reader."""

from collections import Counter
from pathlib import Path

import pytest

from benchmarks.converters.documents import OURS, READERS
from benchmarks.converters.manuals import Kept, Manual, kept_of, read_manual, words_of
from benchmarks.converters.scoring import pooled
from benchmarks.documents import _one_page

SAMPLES = Path(__file__).parents[1] / "samples" / "staging"
HANDBOOK = SAMPLES / "administrator-handbook.pdf"


def test_words_and_headings_are_counted_once_each_and_numbers_before_headings_do_not_matter() -> None:
    manual = Manual(1, Counter({"set": 2, "the": 1, "clock": 1}), ("1.2 Set the clock", "Set"))
    markdown = "# Set the *clock*\n\nclock\n\n## Weather\n\n```\n# Set\n```\n"
    assert kept_of(manual, markdown) == Kept(words=(4, 4), titles=(1, 2), other_headings=1)
    assert kept_of(manual, "set") == Kept(words=(1, 4), titles=(0, 2), other_headings=0)


def test_running_heads_page_numbers_and_contents_are_no_words_of_a_manual() -> None:
    contents = "Contents\nClocks . . . . . . 2\nBells . . . . . . 3\n"
    pages = [f"The manual\nChapter {n}\nnothing else\nstands here\non page {n}\n{n}\n" for n in range(2, 6)]
    assert words_of([contents, *pages]) == Counter(dict.fromkeys("nothing else stands here".split(), 4))


@pytest.mark.parametrize("name", ["administrator-handbook.pdf", "onboarding-guide.docx", "quarterly-review.pptx"])
def test_our_reader_keeps_a_sample_of_each_format(name: str, tmp_path: Path) -> None:
    (tmp_path / name).symlink_to(SAMPLES / name)
    _, make = READERS[OURS]
    markdown = make()(tmp_path)
    assert "# " in markdown
    assert "[[" not in markdown
    if name == HANDBOOK.name:
        manual = read_manual(HANDBOOK)
        kept = kept_of(manual, markdown)
        assert kept.words[0] >= 0.99 * kept.words[1]
        assert kept.titles == (len(manual.titles), len(manual.titles))


def test_chapters_are_joined_in_the_order_of_the_contents(tmp_path: Path) -> None:
    links = '<a href="b.html">B</a><a href="b.html#x">X</a><a href="a.html">A</a>'
    (tmp_path / "index.html").write_text(f'<html><body><div class="toctree-wrapper">{links}</div></body></html>')
    for name in "ab":
        (tmp_path / f"{name}.html").write_text(f"<html><body><p>chapter {name}</p></body></html>")
    page = _one_page(tmp_path).decode()
    assert page.count("<p>") == 2
    assert page.index("chapter b") < page.index("chapter a")


def test_only_the_measures_asked_for_are_pooled() -> None:
    rows = [
        {"words": [1, 2], "headings": [0, 0], "clean": [5, 5]},
        {"words": [2, 2], "headings": [0, 0], "clean": [0, 5]},
    ]
    assert pooled(rows, ("words", "headings")) == {"words": 0.75, "overall": 0.75}
