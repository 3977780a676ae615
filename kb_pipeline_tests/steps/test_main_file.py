"""Which file of a folder is the article."""

import pytest

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline.steps.main_file import format_of, main_file


@pytest.mark.parametrize(
    ("names", "chosen", "main"),
    [
        (["index.html", "manual.docx", "notes.md"], "", "index.html"),
        (["Manual.DOCX", "picture.png", "old/manual.docx"], "", "Manual.DOCX"),
        (["a.md", "b.md"], "b.md", "b.md"),
        (["a.xlsx", "manual.pdf", "data.csv"], "", "manual.pdf"),
        (["a.xlsx", "manual.pdf"], "a.xlsx", "a.xlsx"),
        (["a.xlsx", "picture.png"], "", "a.xlsx"),
        (["guide.odt", "notes.txt", "x.png"], "", "guide.odt"),
        (["notes.txt", "x.png"], "", "notes.txt"),
    ],
)
def test_it_is_the_page_or_the_only_document_or_the_chosen_one(names: list[str], chosen: str, main: str) -> None:
    assert main_file(names, chosen) == main


@pytest.mark.parametrize(
    ("names", "chosen", "problem"),
    [
        ([], "", "there is no index.html and no document such as .docx, .pdf or .md: the folder is empty"),
        (["metadata.json"], "", "the folder is empty"),
        (
            ["sub/index.html"],
            "",
            "there is no index.html and no document such as .docx, .pdf or .md: only 'sub/index.html'",
        ),
        (["a.md", "b.docx"], "", "2 documents could be the article ('a.md', 'b.docx'); say which"),
        (["a.xlsx", "b.csv"], "", "2 documents could be the article ('a.xlsx', 'b.csv'); say which"),
        (["a.md", "b.md"], "c.md", "'c.md', which is not in the folder"),
        (["a.md", "b.png"], "b.png", "'b.png', which is no document"),
        (["old.doc", "x.png"], "", "old.doc is an old Word document; save it as .docx"),
        (["notes.log", "x.png"], "", "notes.log is a log; if people ask for what it says, rename it to .txt"),
        (["a.txt", "b.txt", "x.png"], "", "2 documents could be the article ('a.txt', 'b.txt')"),
        ([f"{name}.png" for name in "abcde"], "", ": only 'a.png', 'b.png', 'c.png', 'd.png', ..."),
        (["page.html", "x.png"], "", "page.html is not the name of a page; rename it to index.html"),
        (["m.docm"], "", "m.docm is a Word document with macros"),
        (["b.html", "a.html"], "", "rename it to index.html, or make an article of each page of a tree with kb intake"),
    ],
)
def test_what_is_wrong_with_a_folder_is_said(names: list[str], chosen: str, problem: str) -> None:
    with pytest.raises(UnreadableArticleError) as refused:
        main_file(names, chosen)
    assert problem in str(refused.value)


def test_the_ending_tells_the_format() -> None:
    assert [format_of(name) for name in ("index.html", "a.md", "b.Markdown", "c.DOCX")] == [
        "html",
        "markdown",
        "markdown",
        "docx",
    ]
