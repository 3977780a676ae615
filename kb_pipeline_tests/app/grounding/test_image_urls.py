import pytest

from app.grounding.sources import ImageUrls, image_markdown, image_name, looks_like_image
from kb_pipeline_tests.app.grounding.hits import CROP, MENU, PRINTER_MENU, TRAY, book

URLS = ImageUrls(book().image_urls())


@pytest.mark.parametrize(
    ("target", "url"),
    [
        (CROP, CROP),
        (CROP.removeprefix("/"), CROP),
        (f"https://evil.example{CROP}", CROP),
        (f"//evil.example{CROP}", CROP),
        (f"{CROP}?raw=1#top", CROP),
        (f"attachment:{CROP}", CROP),
        ("attachment:crop.png", CROP),
        ("attachment://crop.png", CROP),
        ("sandbox:/mnt/data/crop.png", CROP),
        ("file:///home/user/crop.png", CROP),
        ("C:\\Users\\me\\crop.png", CROP),
        ("images\\crop.png", CROP),
        ("images/crop.png", CROP),
        ("./images/crop.png", CROP),
        ("../layers/images/crop.png", CROP),
        ("CROP.PNG", CROP),
        ("<images/crop.png>", CROP),
        (" images/crop.png ", CROP),
        ("crop.jpg", CROP),
        ("crop.image", CROP),
        ("crop", CROP),
        ("Image: crop", CROP),
        ("images/tray (1).png", TRAY),
        ("images/tray%20(1).png", TRAY),
        ("images/tray%2520%25281%2529.png", TRAY),
        ("images/tray\\ \\(1\\).png", TRAY),
        ("images/tray&#32;(1).png", TRAY),
        (TRAY, TRAY),
    ],
)
def test_every_form_becomes_the_url_of_the_image(target: str, url: str) -> None:
    assert URLS.resolve(target) == url


@pytest.mark.parametrize(
    ("target", "url"),
    [
        (MENU, MENU),
        (PRINTER_MENU, PRINTER_MENU),
        ("http://x/api/images/my printer/images/menu.png", PRINTER_MENU),
        ("my%20printer/menu.png", PRINTER_MENU),
        ("menu.png", None),
        ("images/menu.png", None),
    ],
)
def test_a_shared_name_is_the_image_of_the_article_that_is_named(target: str, url: str | None) -> None:
    assert URLS.resolve(target) == url


def test_a_shared_name_without_an_article_is_the_image_of_the_one_that_is_nearest() -> None:
    assert URLS.resolve("menu.png", near=("toner", "my printer", "layers")) == PRINTER_MENU
    assert URLS.resolve("images/menu.png", near=("layers",)) == MENU
    assert URLS.resolve("menu.png", near=("toner",)) is None


@pytest.mark.parametrize(
    "target",
    [
        "/api/images/unknown/images/menu.png",
        "/api/images/unknown/images/crop.png",
        "http://x/api/images/unknown/images/crop.png",
        "../other/images/crop.png",
        "https://cdn.example/a/menu.png",
    ],
)
def test_an_address_that_names_something_else_is_never_that_of_a_cited_article(target: str) -> None:
    assert URLS.resolve(target, near=("layers",)) is None


@pytest.mark.parametrize(
    "target",
    [
        "",
        "/",
        "images/",
        "images/other.png",
        "https://evil.example/x.png",
        "data:image/png;base64,iVBORw0KGgo=",
        "javascript:alert(1)",
        "crop.png/..",
        "crop.pngx",
        "x" * 3000 + "/crop.png",
    ],
)
def test_what_is_no_image_of_the_passages_is_none(target: str) -> None:
    assert URLS.resolve(target) is None


@pytest.mark.parametrize("target", ["https://cdn.example/a/b/crop.png?width=3", "//elsewhere.example/crop.png"])
def test_on_another_host_a_name_that_one_image_has_is_that_image(target: str) -> None:
    assert URLS.resolve(target) == CROP
    assert URLS.resolve(target, is_image=False) is None


def test_a_link_is_to_an_image_only_if_it_names_a_file() -> None:
    assert URLS.resolve("images/crop.png", is_image=False) == CROP
    assert URLS.resolve("crop", is_image=False) is None


def test_without_passages_there_are_no_images() -> None:
    assert ImageUrls({}).resolve("crop.png") is None


def test_names_are_compared_as_people_read_them() -> None:
    urls = ImageUrls({"men%c3%bc%20bar.png": ("/api/images/a/images/Men%C3%BC%20bar.png",)})

    assert urls.resolve("images/menu\u0308  BAR.png") == "/api/images/a/images/Men%C3%BC%20bar.png"


@pytest.mark.parametrize(
    ("alt", "text"),
    [
        ("The menu", "The menu"),
        ("", "crop"),
        ("](x) [a\\", "(x) a"),
        ("a\nb `c` <d>", "a b c d"),
        ("a | b", "a - b"),
    ],
)
def test_an_alternative_text_cannot_act_as_markdown(alt: str, text: str) -> None:
    assert image_markdown(alt, CROP) == f"![{text}]({CROP})"


def test_an_image_has_a_name_to_read() -> None:
    assert image_name(TRAY) == "tray (1)"


@pytest.mark.parametrize(("target", "is_image"), [("a.png", True), ("a.PNG?x", True), ("a.png/b", False), ("a", False)])
def test_an_image_is_recognised_by_its_ending(target: str, is_image: bool) -> None:
    assert looks_like_image(target) is is_image
