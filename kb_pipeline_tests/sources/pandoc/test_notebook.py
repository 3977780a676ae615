"""Jupyter notebooks: cells in order, with what they gave."""

import base64

import pytest

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline.sources import SourceDocument
from kb_pipeline.sources.pandoc.notebook import NotebookSource
from kb_pipeline_tests.pictures import screenshot
from kb_pipeline_tests.sources.books import notebook, run, said, shown
from kb_pipeline_tests.sources.reading import markdown_of

PNG = screenshot("A")
WRITTEN = base64.b64encode(PNG).decode()


def read(*cells: dict[str, object], language: str = "python") -> SourceDocument:
    return NotebookSource().read("guide", "guide.ipynb", notebook(*cells, language=language))


def test_cells_and_outputs_are_in_order() -> None:
    found = read(
        said("# Refunds\n\nwith $x^2$"),
        run("print(1)", {"output_type": "stream", "name": "stdout", "text": ["1\n", "2\n"]}),
        run(
            "table",
            shown(
                text_html="<table><tr><th>R</th><th>S</th></tr><tr><td>1</td><td>2</td></tr></table>", text_plain="R 1"
            ),
        ),
        said("end"),
    )
    assert markdown_of(found).split("\n\n") == [
        *("# Refunds", "with `$x^2$`", "```python\nprint(1)\n```", "```\n1\n2\n```"),
        *("```python\ntable\n```", "| R | S |\n| --- | --- |\n| 1 | 2 |", "end"),
    ]


def test_code_is_in_the_language_of_the_kernel() -> None:
    assert "```r\nsum(1)" in markdown_of(read(run("sum(1)"), language="R")).lower()


def test_pictures_of_outputs_and_attachments_are_in_their_places() -> None:
    attached = {"shot.png": {"image/png": WRITTEN}}
    found = read(
        said("a ![Shot](attachment:shot.png) b", attachments=attached), run("plot()", shown(image_png=WRITTEN))
    )
    assert found.images == {"guide.ipynb/image1.png": PNG}
    assert found.html.count('src="guide.ipynb/image1.png"') == 2


def test_what_only_a_script_shows_is_said_in_words_if_there_are_some() -> None:
    page = "<div id='x'></div><script>document.write('secret')</script>"
    found = markdown_of(read(run("f()", shown(text_html=page, text_plain="Figure of 3 lines"))))
    assert found == "```python\nf()\n```\n\n```\nFigure of 3 lines\n```"
    assert "secret" not in markdown_of(read(said("words"), run("f()", shown(text_html=page))))


@pytest.mark.parametrize("file", ["/etc/passwd", "../x.png", "http://127.0.0.1:9/a.png"])
def test_pictures_elsewhere_are_not_fetched(file: str) -> None:
    assert read(said(f"words ![x]({file}) <img src='{file}'>")).images == {}


def test_an_attachment_is_written_nowhere_else() -> None:
    name = "../" * 12 + "tmp/kb-evil.png"
    found = read(said(f"![x](attachment:{name})", attachments={name: {"image/png": WRITTEN}}))
    assert found.images == {"guide.ipynb/image1.png": PNG}


NO_NOTEBOOK = [(b'{"a": 1}', "does not say which nbformat"), (b"[" * 100_000, "is damaged"), (b"{", "is damaged")]


@pytest.mark.parametrize(("data", "why"), NO_NOTEBOOK)
def test_what_is_no_notebook_is_refused(data: bytes, why: str) -> None:
    with pytest.raises(UnreadableArticleError, match=f"^guide: guide.ipynb .*{why}"):
        NotebookSource().read("guide", "guide.ipynb", data)
