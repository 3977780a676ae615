"""Single pictures as articles."""

import io

import pytest
from PIL import Image, PngImagePlugin

from kb_pipeline.errors import EmptyArticleError, UnreadableArticleError
from kb_pipeline.sources.picture import PictureSource
from kb_pipeline_tests.pictures import screenshot
from kb_pipeline_tests.sources.reading import markdown_of

FORMS = ["PNG", "JPEG", "WEBP", "GIF", "TIFF"]


@pytest.mark.parametrize("form", FORMS)
def test_a_picture_is_its_own_image_with_its_name_as_the_title(form: str) -> None:
    found = PictureSource().read("guide", "Main menu.png", screenshot("A", form=form))
    assert found.title == "Main menu"
    assert markdown_of(found, "Main menu.png") == "[[IMG:Main%20menu.png]]"
    assert found.images == {}


def test_its_title_is_what_it_says_of_itself() -> None:
    about = PngImagePlugin.PngInfo()
    about.add_text("Title", "The main menu\x00 <b>")
    written = io.BytesIO()
    Image.new("RGB", (9, 9)).save(written, "PNG", pnginfo=about)
    found = PictureSource().read("guide", "a.png", written.getvalue())
    assert found.title.startswith("The main menu")
    assert "<b>" not in found.html


def test_a_photograph_has_its_author_and_date() -> None:
    exif = Image.Exif()
    exif[0x010E], exif[0x013B], exif[0x0132] = "The rack", "Ann", "2026:11:27 10:00:00"
    written = io.BytesIO()
    Image.new("RGB", (9, 9)).save(written, "JPEG", exif=exif)
    found = PictureSource().read("guide", "a.jpg", written.getvalue())
    assert found.title == "The rack"
    assert found.facts is not None
    assert (found.facts.author, found.facts.created) == ("Ann", "2026-11-27")


REFUSED = [
    (b"", EmptyArticleError, "is empty"),
    (b"%PDF-1.4", UnreadableArticleError, "is a PDF file under another name"),
    (b"\x89PNG\r\n\x1a\n", UnreadableArticleError, "is a damaged picture"),
    (b"<svg xmlns='http://www.w3.org/2000/svg'/>", UnreadableArticleError, "is a page of HTML or XML"),
]


@pytest.mark.parametrize(("data", "error", "why"), REFUSED)
def test_what_is_no_picture_is_refused(data: bytes, error: type[Exception], why: str) -> None:
    with pytest.raises(error, match=rf"^guide: a\.png {why}"):
        PictureSource().read("guide", "a.png", data)
