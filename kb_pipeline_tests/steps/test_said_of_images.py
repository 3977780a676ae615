"""What an author says of a picture in ``metadata.json`` is found by its file name, and nothing else is."""

import json

import pytest

from kb_pipeline.steps.said_of_images import SaidOfImages, besides_images, read_said

FILES = ("images/login.png", "images/menu.png", "Übersicht der Räume.png", "a/step.png", "b/step.png")
SENTENCE = "The sign-in page with a code by mail."


def read(stated: object, files: tuple[str, ...] = FILES) -> SaidOfImages:
    return read_said(json.dumps({"title": "Sign in", "images": stated}).encode(), files)


@pytest.mark.parametrize(
    ("name", "file"),
    [
        ("login.png", "images/login.png"),
        ("images/login.png", "images/login.png"),
        ("Übersicht der Räume.png", "Übersicht der Räume.png"),
        ("U\u0308bersicht der Ra\u0308ume.png", "Übersicht der Räume.png"),  # as macOS writes it
        ("b/step.png", "b/step.png"),
    ],
)
def test_a_picture_is_named_as_it_lies_in_the_folder_or_by_the_last_part_of_its_name(name: str, file: str) -> None:
    assert read({name: SENTENCE}) == SaidOfImages({file: SENTENCE}, ())


def test_a_picture_inside_a_document_is_named_without_the_document() -> None:
    said = read({"image2.png": SENTENCE}, ("Guide.docx/image1.png", "Guide.docx/image2.png"))
    assert said.sentences == {"Guide.docx/image2.png": SENTENCE}


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("logn.png", "images/login.png"),
        ("LOGIN.PNG", "images/login.png"),
        ("login.jpg", "images/login.png"),
        ("meun.png", "images/menu.png"),
        ("uebersicht.png", "Übersicht der Räume.png"),
    ],
)
def test_a_name_that_no_picture_has_is_a_warning_that_names_the_nearest(name: str, nearest: str) -> None:
    expected = f"metadata.json: images: the article has no picture {name}; the nearest is {nearest}"
    assert read({name: SENTENCE, "menu.png": "A menu."}) == SaidOfImages({"images/menu.png": "A menu."}, (expected,))


def test_without_pictures_no_nearest_is_named() -> None:
    assert read({"login.png": SENTENCE}, ()).warnings == (
        "metadata.json: images: the article has no picture login.png",
    )


def test_a_name_that_two_pictures_share_is_a_warning_that_names_both() -> None:
    said = read({"step.png": SENTENCE})
    assert said.sentences == {}
    assert said.warnings == ("metadata.json: images: 2 pictures are called step.png; write a/step.png or b/step.png",)


@pytest.mark.parametrize(
    "name",
    [
        *("../login.png", "/login.png", "images/../login.png", "./login.png", "images\\login.png", "", "images/"),
        *("log\u202ein.png", "log\0in.png", "login\n.png", "\ud800.png", "x" * 5_000 + ".png"),
    ],
)
def test_a_name_that_leads_elsewhere_or_looks_like_another_is_left_out(name: str) -> None:
    said = read({name: SENTENCE})
    assert said.sentences == {}
    assert "cannot be the name of a picture" in said.warnings[0]
    assert said.warnings[0].isascii()
    assert len(said.warnings[0]) < 600


@pytest.mark.parametrize("value", [None, 3, True, ["A page."], {"en": "A page."}])
def test_what_is_no_text_is_left_out_with_a_warning(value: object) -> None:
    said = read({"login.png": value})
    assert said == SaidOfImages(
        {}, ("metadata.json: images: what is said of login.png is not a text and was left out",)
    )


@pytest.mark.parametrize("stated", ["login.png", ["login.png"], 3, True])
def test_what_is_no_object_is_left_out_with_a_warning(stated: object) -> None:
    assert read(stated).warnings == (
        'metadata.json: images is not of the form {"login.png": "A sentence."} and was left out',
    )


@pytest.mark.parametrize("stated", [None, {}, {"login.png": ""}, {"login.png": " \n"}])
def test_nothing_said_is_no_sentence_and_no_warning(stated: object) -> None:
    assert read(stated) == SaidOfImages({}, ())


@pytest.mark.parametrize(
    ("written", "kept"),
    [("  The\n sign-in\tpage. ", "The sign-in page."), ("The\0 page\u202e.", "The page."), ("\ud800 page", "? page")],
)
def test_a_sentence_stands_on_one_line_without_what_nobody_sees(written: str, kept: str) -> None:
    assert read({"login.png": written}).sentences == {"images/login.png": kept}


def test_a_long_sentence_is_cut_with_a_warning() -> None:
    said = read({"login.png": "word " * 200})
    assert len(said.sentences["images/login.png"]) == 500
    assert "longer than 500 characters" in said.warnings[0]


def test_of_very_many_entries_only_the_first_are_named_and_all_that_fit_are_read() -> None:
    said = read({**{f"picture-{number}.png": SENTENCE for number in range(10_000)}, "login.png": SENTENCE})
    assert said.sentences == {"images/login.png": SENTENCE}
    assert len(said.warnings) == 21
    assert "9,980 more" in said.warnings[-1]


def test_what_is_said_besides_does_not_depend_on_the_pictures_nor_on_how_it_is_written() -> None:
    assert besides_images(b'{"title": "A", "images": {"a.png": "A."}}') == besides_images(b'{ "title":"A" }')
    assert besides_images(b'{"images": {}}') == {}
    assert besides_images(b'{"title": "A"}') != besides_images(b'{"title": "B"}')
    assert besides_images(b"{") != besides_images(b"{{")
