import pytest

from kb_pipeline.records import ImageInfo
from kb_pipeline.steps.html.images import Stems, safe_stem
from kb_pipeline_tests.growth import grows_in_proportion
from kb_pipeline_tests.steps.html.pages import convert, image, markdown

SHOT = image("shot.png")


@pytest.mark.parametrize(
    ("source", "file"),
    [
        ("shot.png", "shot.png"),
        ("./shot.png", "shot.png"),
        ("shot.png?v=2#top", "shot.png"),
        ("SHOT.PNG", "shot.png"),
        ("my%20shot.png", "my shot.png"),
        ("my shot.png", "my shot.png"),
        ("caf%E9.png", "café.png"),
        ("cafe\u0301.png", "café.png"),
        ("images/a.png", "images/a.png"),
        ("x/../shot.png", "shot.png"),
        (r"images\a.png", "images/a.png"),
        ("100%.png", "100%.png"),
    ],
)
def test_an_address_finds_its_file(source: str, file: str) -> None:
    article = convert(f'<p>Look:</p><p><img src="{source}"></p>', image(file))
    assert [found.file for found in article.images] == [file]


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("gone.png", "image file missing: gone.png"),
        ("../shot.png", "image outside the article's folder: ../shot.png"),
        ("/etc/shot.png", "image outside the article's folder: /etc/shot.png"),
        ("https://e.org/shot.png", "image not in the article's folder: https://e.org/shot.png"),
        ("//e.org/shot.png", "image not in the article's folder: //e.org/shot.png"),
        ("data:image/png;base64,AAAA", "image inside the page"),
        ("", "image without an address"),
        ("broken.png", "image file unreadable: broken.png: truncated"),
    ],
)
def test_an_image_that_cannot_be_shown_is_a_warning_and_leaves_its_words(source: str, reason: str) -> None:
    article = convert(f'<p><img src="{source}" alt="The save dialog">', SHOT, image("broken.png", problem="truncated"))
    assert article.images == ()
    assert article.warnings[0].startswith(reason)
    assert article.markdown == "The save dialog\n"


@pytest.mark.parametrize(
    ("source", "lost"),
    [
        ("gone.png", ["image file missing: gone.png"]),
        ("broken.png", ["image file unreadable: broken.png: truncated"]),
        ("../shot.png", []),
        ("https://e.org/shot.png", []),
        ("data:image/png;base64,AAAA", []),
    ],
)
def test_an_image_that_belongs_in_the_folder_and_cannot_be_shown_is_lost(source: str, lost: list[str]) -> None:
    html = f'<h1>Help</h1><h2>Save</h2><p>Click Save. <img src="{source}"><h2>Next</h2>'
    article = convert(html, SHOT, image("broken.png", problem="truncated"))
    assert [(problem.problem, problem.section) for problem in article.lost_images] == [(why, "Save") for why in lost]


@pytest.mark.parametrize(
    "html",
    [
        '<img src="gone.png" width="1" height="1">',
        '<img src="gone.png" width="16px">',
        '<img src="gone.png" role="presentation">',
        '<a href="/"><img src="our-logo.png"></a>',
        '<div class="note"><img src="note.png">Mind the gap.</div>',
        '<img src="dot.png">',
    ],
)
def test_decoration_is_not_lost(html: str) -> None:
    assert convert(f"<p>Text</p>{html}", image("dot.png", 2, 2, problem="truncated")).lost_images == ()


def test_a_screenshot_of_a_lazy_page_is_lost_if_no_address_has_a_file() -> None:
    html = '<img src="data:image/gif;base64,AA" data-src="gone.png"><img src="https://e.org/a" data-src="b.png">'
    assert [problem.file for problem in convert(f"<p>Text</p>{html}").lost_images] == ["gone.png", "b.png"]


@pytest.mark.parametrize(
    "html",
    [
        '<input type="image" src="shot.png">',
        '<picture><source srcset="shot.png 2x"></picture>',
        '<img data-src="shot.png">',
        '<img src="data:image/gif;base64,AA" data-src="shot.png">',
        '<object type="image/png" data="shot.png"></object>',
    ],
)
def test_other_ways_to_show_an_image(html: str) -> None:
    assert markdown(f"<p>Look:</p><p>{html}</p>", SHOT) == "Look:\n\n[[IMG:shot.png]]"


@pytest.mark.parametrize(
    ("html", "expected"),
    [
        ("<p>a</p><p>{}</p><p>b</p>", "a\n\n[[IMG:shot.png]]\n\nb"),
        ("<p>a {} b</p>", "a [[IMG:shot.png]] b"),
        ("<p><a href=x>label {}</a></p>", "[label](x) [[IMG:shot.png]]"),
        ("<p><a href=shot.png>{}</a></p>", "[[IMG:shot.png]]"),
        ("<ol><li><p>Click</p>{}</li><li>b</li></ol>", "1. Click\n\n   [[IMG:shot.png]]\n\n2. b"),
        ("<table><tr><th>a<th>b<tr><td>{}<td>c</table>", "| a | b |\n| --- | --- |\n| [[IMG:shot.png]] | c |"),
        ("<h2>Head {}</h2>", "## Head [[IMG:shot.png]]"),
        ("<p><b>bold {} text</b></p>", "[[IMG:shot.png]] **bold text**"),
    ],
)
def test_the_marker_stands_where_the_image_does(html: str, expected: str) -> None:
    assert markdown(html.format('<img src="shot.png">'), SHOT) == expected


def test_a_linked_image_keeps_its_link_under_its_own_words() -> None:
    text = markdown('<p><a href="big.html"><img src="shot.png" alt="The window"></a></p>', SHOT)
    assert text == "[[IMG:shot.png]] [The window](big.html)"


@pytest.mark.parametrize(
    ("html", "info"),
    [
        ('<p><img src="i.png"></p>', image("i.png", 24, 24)),
        ('<p><img src="i.png"></p>', image("i.png", 1, 600)),
        ('<p><img src="i.png"></p>', image("i.png", 700, 2)),
        ('<div class="note"><p><img src="i.png" alt="[Note]"> x</p></div>', image("i.png", 48, 48)),
        ('<div class="tip"><p><img src="tip.svg">x</p></div>', image("tip.svg", 0, 0)),
        ('<p>Click the small <img src="i.png" alt="Save"> button.</p>', image("i.png", 48, 48)),
        ('<p><a href="index.html"><img src="logo.png" alt="Our logo"></a></p>', image("logo.png", 300, 80)),
    ],
)
def test_decoration_is_left_out_and_counted(html: str, info: ImageInfo) -> None:
    article = convert(f"<p>Text</p>{html}", info)
    assert (article.images, article.decorative_images) == ((), 1)


@pytest.mark.parametrize(
    "html",
    [
        '<p>The pointer becomes <img src="i.png"> over a corner.</p>',
        '<p>Click this icon in the toolbox:</p><p><img src="i.png" alt="The move tool"></p>',
    ],
)
def test_a_small_image_that_the_words_need_stays(html: str) -> None:
    assert len(convert(html, image("i.png", 40, 40)).images) == 1


def test_an_icon_in_a_sentence_becomes_its_words() -> None:
    assert markdown('<p>Click <img src="i.png" alt="Save as"> now</p>', image("i.png", 16, 16)) == "Click Save as now"


@pytest.mark.parametrize("alt", ["i.png", "i", "icon", "Click", "shot.gif"])
def test_words_that_add_nothing_are_not_repeated(alt: str) -> None:
    assert markdown(f'<p>Click <img src="i.png" alt="{alt}"> now</p>', image("i.png", 16, 16)) == "Click now"


def test_each_file_has_one_reference_and_each_place_a_marker() -> None:
    article = convert('<p>a<p><img src="shot.png"><p>b<p><img src="shot.png">', SHOT)
    assert len(article.images) == 1
    assert article.markdown.count("[[IMG:shot.png]]") == article.counts.images == 2


@pytest.mark.parametrize(
    "html",
    [
        '<figure><img src="shot.png"><figcaption>The window</figcaption></figure>',
        '<div class="figure"><p class="title"><b>The window</b></p><div class="figure-contents">'
        '<div class="mediaobject"><img src="shot.png"></div></div></div>',
        '<div class="imageblock"><div class="content"><img src="shot.png"></div>'
        '<div class="title">The window</div></div>',
        '<div class="fig fignone"><span class="figcap">The window</span><img src="shot.png"></div>',
    ],
)
def test_the_caption_is_found_in_every_dialect(html: str) -> None:
    article = convert(html, SHOT)
    assert article.images[0].caption == "The window"
    assert "The window" in article.markdown


@pytest.mark.parametrize(
    ("html", "context"),
    [
        ("<p>Open the menu.</p><p>{}</p>", "Open the menu."),
        ("<p>Earlier.</p><p>Open <b>the</b> menu: {} and more</p>", "Open the menu:"),
        ("<ol><li>One</li><li><p>Open the menu.</p><div>{}</div></li></ol>", "Open the menu."),
        ("<p>" + "word " * 200 + "</p><p>{}</p>", "..." + ("word " * 200)[-298:].strip()),
        ("<p>{}</p>", ""),
    ],
)
def test_the_context_is_the_text_right_before(html: str, context: str) -> None:
    found = convert(html.format('<img src="shot.png">'), SHOT).images[0].context
    assert found == context
    assert len(found) <= 300


def test_stems_are_unique_whatever_the_case() -> None:
    names = ["foo.image", "foo.gif", "FOO.png", "sub/foo.png"]
    article = convert("".join(f'<p><img src="{name}">' for name in names), *map(image, names))
    assert [found.stem for found in article.images] == ["foo", "foo-2", "FOO-3", "foo-4"]


def test_thousands_of_files_of_one_name_are_told_apart_in_proportion_to_their_number() -> None:
    def take(size: int) -> list[str]:
        stems = Stems()
        return [stems.take(f"{number}/shot.png") for number in range(size)]

    assert grows_in_proportion(take, 4000)


@pytest.mark.parametrize(
    ("file", "stem"),
    [("con.png", "con-image"), ("a:b?[c].png", "a-b-c-"), (".png", "png"), ("ü x.png", "ü x"), ("...", "image")],
)
def test_stems_are_safe_on_every_file_system(file: str, stem: str) -> None:
    assert safe_stem(file) == stem


def test_images_in_code_leave_no_trace_in_it() -> None:
    html = '<pre>a <img src="gone.png" alt="(1)">\nb<img src="shot.png" alt="words"></pre>'
    assert markdown(html, SHOT) == "```\na \nb\n```"


@pytest.mark.parametrize(
    "html",
    [
        "<p>Press <kbd>Ctrl</kbd>+<kbd>Enter</kbd> to send, as <code>/late</code> says. {}",
        "<p>Press <kbd>Ctrl</kbd><kbd>Enter</kbd> to send, as <a href='x'><tt>/late</tt></a> says.</p><p>{}</p>",
        "<table><tr><td>Press <kbd>Ctrl</kbd>+<kbd>Enter</kbd> to send, as <code>/late</code> says.<td>{}"
        "<tr><td>a<td>b</table>",
    ],
)
def test_the_context_names_keys_and_code(html: str) -> None:
    found = convert(html.format('<img src="shot.png">'), SHOT).images[0].context
    assert found == "Press Ctrl+Enter to send, as /late says."


def test_a_block_of_code_is_no_context() -> None:
    html = '<p>Run this:</p><pre>server --start</pre><p><img src="shot.png">'
    assert convert(html, SHOT).images[0].context == "Run this:"
