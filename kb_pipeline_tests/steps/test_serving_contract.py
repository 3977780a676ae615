"""Reading an article in the form of the serving layer, as another program may write it, and as an attacker may."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from kb_pipeline.errors import UnreadableArticleError
from kb_pipeline.records import ConvertedArticle, ImageDescription, ImageInfo
from kb_pipeline.steps.checks import check_conversion
from kb_pipeline.steps.checks.contents import contents_of
from kb_pipeline.steps.markers import ImageBlock, block_lines, image_link
from kb_pipeline.steps.merge_images import merge_images
from kb_pipeline.steps.pages import marks_to_comments
from kb_pipeline.steps.serving_contract import read_serving_article

BLOCK = ImageBlock(
    stem="form",
    description="The form. On the picture: *New* ticket",
    ui_elements=("Save", "Cancel"),
    navigation_path=("Settings", "Tickets"),
)
IN_OUR_FORM = "\n".join(block_lines(BLOCK))


def image(file: str, problem: str | None = None) -> ImageInfo:
    return ImageInfo(file=file, sha256=f"hash of {file}", format="PNG", width=9, height=9, problem=problem)


def read(
    text: str, manifest: object = None, files: tuple[str, ...] = ("images/form.png", "images/b.png")
) -> ConvertedArticle:
    data = None if manifest is None else json.dumps(manifest).encode()
    return read_serving_article("tickets", text.encode(), data, {file: image(file) for file in files})


def written_again(article: ConvertedArticle) -> str:
    """``article.md`` as the next layers make it of what was read."""
    described = article.descriptions
    blocks = {one.file: ImageBlock(stem=one.stem, **described[one.file].model_dump()) for one in article.images}
    merged = merge_images(article.markdown, blocks).markdown
    return marks_to_comments(merged) if article.pages else merged


@pytest.mark.parametrize(
    "text",
    [
        f"# Tickets\n\nWords.\n\n{IN_OUR_FORM}\n\nMore words.\n",
        f"# Tickets\n\n1. Click.\n\n   {IN_OUR_FORM.replace(chr(10), chr(10) + '   ')}\n\n2. Save.\n",
        f"> A note.\n>\n> {IN_OUR_FORM.replace(chr(10), chr(10) + '> ')}\n",
        f"| a | b |\n|---|---|\n| {image_link(BLOCK)} | x |\n\n{IN_OUR_FORM}\n\nAfter the table.\n",
        f"# Pages\n\n<!-- page 1: iv -->\n\nOne.\n\n<!-- page 2 -->\n\nTwo.\n\n{IN_OUR_FORM}\n",
        "# Code\n\n```\n![not an image](images/form.png)\n<!-- page 7 -->\n```\n\nAnd `![nor](images/b.png)`.\n",
        "[A link](../other/index.html#x), a [second](https://example.com/a_(b)) and <https://example.com>.\n",
    ],
    ids=["block", "in a list", "in a quote", "in a table", "pages", "code", "links"],
)
def test_what_is_written_as_ours_comes_out_as_it_came_in(text: str) -> None:
    article = read(text)
    assert written_again(article) == text
    assert all(check.passed for check in check_conversion(article))


WORDS = st.text(st.characters(exclude_categories=["Cc", "Cs"]), min_size=1, max_size=30).filter(
    lambda text: any(map(str.isalnum, text))
)


@pytest.mark.slow("builds a whole knowledge base")
@given(WORDS, st.lists(WORDS, max_size=3), st.lists(WORDS, max_size=3))
def test_any_description_that_we_write_is_read_as_the_same_block(
    description: str, elements: list[str], path: list[str]
) -> None:
    block = ImageBlock(stem="form", description=description, ui_elements=elements, navigation_path=path)
    once = written_again(read("\n".join(block_lines(block)) + "\n"))
    assert written_again(read(once)) == once
    assert not contents_of(once).html


def test_a_plain_image_gets_its_alternative_text_as_description() -> None:
    article = read('# T\n\nClick. ![The form](images/form.png "Tickets")\n\n![](./images/b.png)\n')
    assert article.descriptions == {
        "images/form.png": ImageDescription(description="The form"),
        "images/b.png": ImageDescription(description="b"),
    }
    assert [(one.file, one.stem, one.section) for one in article.images] == [
        ("images/form.png", "form", "T"),
        ("images/b.png", "b", "T"),
    ]
    assert "> **[Image: form](images/form.png)**\n> The form" in written_again(article)


def test_the_link_of_an_image_stays_beside_it() -> None:
    article = read("[![The form](images/form.png)](https://example.com)\n")
    assert [link.target for link in article.links] == ["https://example.com"]
    assert written_again(article).startswith("[The form](https://example.com)\n\n> **[Image: form]")


def test_names_that_no_link_can_hold_get_a_plain_one() -> None:
    article = read(
        "![x](<images/a b[1].jpeg>) ![y](images/a%20b-1-.png)\n", files=("images/a b[1].jpeg", "images/a b-1-.png")
    )
    assert [one.stem for one in article.images] == ["a b-1-", "a b-1--2"]


@pytest.mark.parametrize(
    "target", ["images/gone.png", "images/../../secrets.png", "images/%2e%2e/manifest.json", "images//form.png"]
)
def test_an_image_that_is_not_in_the_folder_is_named(target: str) -> None:
    article = read(f"# Close\n\n![The form]({target})\n")
    assert [(lost.section, "is not in the folder" in lost.problem) for lost in article.lost_images] == [("Close", True)]
    assert "[[IMG:" not in article.markdown
    assert "The form" in article.markdown


def test_an_image_that_cannot_be_decoded_or_differs_from_the_manifest_is_named() -> None:
    files = {"images/form.png": image("images/form.png", "it is not an image"), "images/b.png": image("images/b.png")}
    listed = json.dumps({"images": [{"path": "images/b.png", "sha256": "of another"}]}).encode()
    article = read_serving_article("tickets", b"![](images/form.png) ![](images/b.png)", listed, files)
    assert [lost.problem for lost in article.lost_images] == [
        "images/form.png: it is not an image",
        "images/b.png is not the file that manifest.json lists; copy the folder again",
    ]


def test_two_descriptions_of_one_image_are_a_warning() -> None:
    other = IN_OUR_FORM.replace("The form", "Another thing")
    article = read(f"{IN_OUR_FORM}\n\nWords.\n\n{other}\n")
    assert "images/form.png is described in different words" in " ".join(article.warnings)


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("![x](https://example.com/pixel.gif)", "shows 'https://example.com/pixel.gif'"),
        ("![x](data:image/png;base64,AAAA)", "shows 'data:image/png"),
        ("![x](file:///etc/passwd)", "shows 'file:///etc/passwd'"),
        ("![x][1]\n\n[1]: images/form.png", "shows 'images/form.png'"),
        ("[x](javascript:alert(1))", "'javascript:alert(1)', which is not safe"),
        ("[x](java&#115;cript:alert(1))", "not safe"),
        ("<javascript:alert(1)>", "not safe"),
        ("[x]\n\n[x]: vbscript:x", "not safe"),
        ("[x](file:///etc/passwd)", "not safe"),
        ("[[IMG:images/form.png]]", "has the marker of 'images/form.png'"),
        ("a\x00b", "is binary"),
    ],
)
def test_what_must_not_be_served_is_refused_by_name(text: str, problem: str) -> None:
    with pytest.raises(UnreadableArticleError, match=r"^tickets: article\.md") as refusal:
        read(f"# T\n\n{text}\n")
    assert problem in str(refusal.value)


def test_text_that_is_not_utf8_is_refused() -> None:
    with pytest.raises(UnreadableArticleError, match="not UTF-8"):
        read_serving_article("tickets", b"\xff\xfeab", None, {})


@pytest.mark.parametrize(
    "markup", ["<script>alert(1)</script>", "<img src=x onerror=alert(1)>", "a <b onclick=x>b</b>"]
)
def test_html_fails_the_check_that_keeps_it_from_readers(markup: str) -> None:
    article = read(f"# T\n\n{markup}\n")
    assert [check.name for check in check_conversion(article) if not check.passed] == ["no_markup_leaked"]


def test_html_in_a_description_becomes_words() -> None:
    article = read("> **[Image: form](images/form.png)**\n> <img src=x onerror=alert(1)> Click *Save*\n")
    assert article.descriptions["images/form.png"].description == "Click Save"


MANIFEST = {
    "article_id": "tickets",
    "title": "All about tickets",
    "source_url": "https://example.com/tickets",
    "language": "en",
    "key_topics": ["tickets"],
    "access_control_list": ["support"],
    "images": [
        {"path": "images/form.png", "sha256": "hash of images/form.png", "alt": "A form", "caption": "The form"}
    ],
    "facts": {"author": "Priya", "created": "2024-01-02"},
    "document_type": "Manual",
    "provenance": {"converter": "wiki-export 7"},
    "counts": {"words": 3},
}


def test_the_manifest_says_what_the_text_does_not() -> None:
    article = read(f"# Tickets\n\n{IN_OUR_FORM}\n", MANIFEST)
    assert (article.title, article.source_url, article.language) == (
        "All about tickets",
        "https://example.com/tickets",
        "en",
    )
    assert (article.key_topics, article.access_control_list) == (("tickets",), ("support",))
    assert article.facts is not None
    assert (article.facts.author, article.facts.created, article.facts.document_type) == (
        "Priya",
        "2024-01-02",
        "Manual",
    )
    assert (article.images[0].alt, article.images[0].caption) == ("A form", "The form")
    assert article.converter == "made elsewhere, by wiki-export 7"
    assert article.warnings == ()


def test_without_a_manifest_the_first_heading_is_the_title() -> None:
    assert read("Words.\n\n## The *first* one\n\n# Second\n").title == "The first one"
    assert read("Words.\n").title == "tickets"
    assert read("Words.\n").converter == "made elsewhere"


@pytest.mark.parametrize(
    "manifest",
    [{"acl": ["support"]}, {"access_control_list": "support"}, {"article_id": "other"}, ["a list"], {"groups": ["a"]}],
)
def test_a_manifest_that_is_not_clear_hides_the_article(manifest: object) -> None:
    with pytest.raises(UnreadableArticleError, match=r"manifest\.json"):
        read("# T\n\nWords.\n", manifest)


@given(st.text(alphabet="[]()!<>*`|\\#-> \n\tabI:images/form.png", max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        article = read(text)
    except UnreadableArticleError:
        return
    assert {one.file for one in article.images} == article.descriptions.keys()
    written_again(article)


@pytest.mark.slow("builds a whole knowledge base")
def test_a_hostile_text_takes_no_longer_than_its_length() -> None:
    for piece in ("![", "[![a](", "> " * 50 + "\n", "> **[Image: ", "`", "[Image: a](", "<!-- page 1"):
        with suppress(UnreadableArticleError):  # it may be refused, but not crash or stand still
            read(piece * 5_000)
