"""RTF documents."""

import pytest

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline.sources import SourceDocument
from kb_pipeline.sources.pandoc.rtf import RtfSource
from kb_pipeline_tests.pictures import screenshot
from kb_pipeline_tests.sources.reading import markdown_of


def read(body: str) -> SourceDocument:
    return RtfSource().read("guide", "guide.rtf", b"{\\rtf1\\ansi\\ansicpg1252 " + body.encode("cp1252") + b"}")


def test_words_lists_and_tables_are_kept() -> None:
    row = r"\trowd\cellx1000\cellx2000 \intbl A\cell B\cell\row "
    found = markdown_of(read(rf"{{\pard\outlinelevel0 Refunds\par}}{{\pard Gr\'f6\'dfe \b now\b0 .\par}}{row}{row}"))
    assert found.split("\n\n") == ["# Refunds", "Größe **now**.", "|  |  |\n| --- | --- |\n| A | B |\n| A | B |"]


def test_pictures_are_in_their_places() -> None:
    png = screenshot("A")
    found = read(rf"{{\pard before {{\pict\pngblip {png.hex()}}} after\par}}")
    assert found.images == {"guide.rtf/image1.png": png}
    assert markdown_of(found) == "before [[IMG:guide.rtf/image1.png]] after"


def test_fields_that_name_files_take_nothing_in() -> None:
    field = r'{\field{\*\fldinst INCLUDETEXT "/etc/passwd"}{\fldrslt shown}}'
    assert markdown_of(read(rf"{{\pard a {field}\par}}")) == "a shown"


def test_another_kind_of_file_is_refused() -> None:
    with pytest.raises(UnreadableArticleError, match=r"guide: guide.rtf is another kind of file .*; rename it"):
        RtfSource().read("guide", "guide.rtf", b"just text")
