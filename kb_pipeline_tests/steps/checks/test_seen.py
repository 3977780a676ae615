"""What readers of a page see, and the markdown has not, is noticed; navigation that was left out is not."""

import pytest

from kb_pipeline.records import CheckResult, ConvertedArticle, ImageInfo, LeftOutText
from kb_pipeline.steps.checks import read_seen, seen_is_published
from kb_pipeline_tests.growth import grows_in_proportion
from kb_pipeline_tests.steps.html.pages import convert, image

PICTURE, THUMB = image("big.png"), image("thumb.png", 40, 30)


def article(markdown: str, *images: ImageInfo) -> ConvertedArticle:
    """An article as a converter might have made it, with these images in it."""
    shown = "".join(f"<img src='{info.file}'>" for info in images)
    return convert(f"<p>words</p>{shown}", *images).model_copy(update={"markdown": markdown})


def checked(page: str, markdown: str, *shown: ImageInfo) -> CheckResult:
    folder = {info.file: info for info in (PICTURE, THUMB, image("big.webp"))}
    return seen_is_published(article(markdown, *shown), read_seen(page, folder))


SEEN = [
    ("<ol><li>Click <button>Save</button>.</li></ol>", "1. Click .", "click save"),
    ("<p>Set the port to <input value=8080> here.</p>", "Set the port to here.", "port to 8080 here"),
    (
        "<p>Choose the level <select><option>Low<option selected>High</select> there.</p>",
        "Choose the level",
        "high",
    ),
    ("<p>Type <textarea>forty two</textarea> in it.</p>", "Type in it.", "forty"),
    ("<div role=tabpanel hidden><p>Install it with apt now.</p></div>", "", "install it with apt"),
    ("<a href='#more'>More</a><p id=more hidden>It takes about five days.</p>", "More", "it takes about five"),
    (
        "<button aria-controls=b>Why</button><p id=b style='display:none'>Because of the cache.</p>",
        "Why",
        "because",
    ),
    ("<div class=share><p>The menu Share sends a folder.</p></div>", "", "the menu share sends"),
    ("<p>Not<br>glued at all.</p><p>One more sentence that is lost.</p>", "Not glued at all.", "one more sentence"),
    ("<table><tr><th>Export<td><i title=No></i><td><i title=Yes></i></table>", "| Export | | |", "no yes"),
    ("<table><tr><td>Export<td><svg><title>Not included</title></svg></table>", "| Export | |", "included"),
    ("<ul><li><input type=checkbox checked> Backup<li><input type=checkbox> Alarm</ul>", "- ☐ Backup", "1 tick of"),
    (
        "<style>input{opacity:0}</style><table><tr><td>Delete<td><input type=checkbox checked></table>",
        "| Delete | |",
        "1 tick of",
    ),
    ("<ol start=3><li>Press the key.</li></ol>", "1. Press the key.", "3. press the key"),
    ("<ol><li>One<li value=4>Four more</ol>", "1. One\n2. Four more", "4. four more"),
    ("<ol reversed><li>Third place<li>Second place<li>First place</ol>", "1. Third place\n2. Second", "3. third"),
    ("<p>Press the key.</p><img data-src=big.png src=spacer.gif>", "Press the key.", "'big.png'"),
    ("<p>Press the key.</p><noscript><img src=./big.png></noscript>", "Press the key.", "'big.png'"),
    ("<a href=big.png><img src=thumb.png></a>", "", "'big.png'"),
    ("<p>Press the key.</p><div data-bg=big.png></div>", "Press the key.", "'big.png'"),
    ("<p>Press the key.</p><img src=big.png loading=lazy style='opacity:0'>", "Press the key.", "'big.png'"),
    ("<picture><source srcset='big.webp 2x'><img src=big.png></picture>", "", "'big.png or big.webp'"),
]
"""A page, markdown that has not all of it, and what of it is missing."""


@pytest.mark.parametrize(("page", "markdown", "missing"), SEEN)
def test_what_is_missing_is_named(page: str, markdown: str, missing: str) -> None:
    result = checked(f"<main>{page}</main>", markdown)
    assert not result.passed
    assert missing in result.message


@pytest.mark.parametrize(
    ("page", "markdown"),
    [
        ("<nav><p>All of our products and prices.</p></nav>", ""),
        ("<p><a href=a>Previous topic: how to configure the server</a></p>", ""),
        ("<p hidden>Nobody sees these words here.</p>", ""),
        ("<p>Press the key.</p><a id=a href=big.png></a>", "Press the key."),
        ("<ul><li hidden><input type=checkbox checked> Menu</ul>", ""),
        ("<form action=a><ul><li><input type=checkbox checked> Mail me</ul></form>", ""),
        ("<p style='color: #fff'>Nobody sees these words here.</p>", ""),
        ("<style>.x, #y { display: none }</style><p class=x>Nobody sees these words.</p>", ""),
        ("<style>.x.y { display: none }</style><p class='x y'>Nobody sees these words.</p>", ""),
        (
            "<style>.x > .y, a::after {} .x > .y { display: none }</style><div class=x><p class=y>Nobody sees it",
            "",
        ),
        ("<p>name=<b>value</b> or H<sub>2</sub>O</p>", "name=**value** or H<sub>2</sub>O"),
        ("<p>Copy</p><pre>make it so</pre>", "```\nmake it so\n```"),
        ("<ol start=3><li>Press the key.</li></ol>", "3. Press the key."),
        ("<table><tr><td>Export<td><i title=Yes></i></table>", "| Export | Yes |"),
        ("<img src=thumb.png>", ""),
        ("<img src=elsewhere.png>", ""),
        ("<ol start=0><li>Press the key.</li></ol>", "0. Press the key."),
        ("<ol start=-2><li>Press the key.</li></ol>", "- Press the key."),
        ("<p>Used: <meter value=2>two out of ten</meter></p>", "Used:"),
        ("<dialog><p>Do you accept all of it?</p></dialog>", ""),
        ("<pre>make it so<button>Copy</button></pre>", "```\nmake it so\n```"),
        ("<form action=find><p><select><option>Search the documentation</select><button>Go</button></form>", ""),
        ("<div><button>More sharing options</button></div>", ""),
        (
            "<div><label for=a>On Linux</label><input><label for=b>On Windows</label></div>",
            "**On Windows**\n\nOn Linux",
        ),
        ("<span role=tab>On Linux</span> <span role=tab>On Windows</span>", "**On Windows**\n\nOn Linux"),
        ("<li>Set ROOT<p>C:/program</p>as in the menu.", "- Set ROOT\n\n  C:/program\n\n  as in the menu."),
        ("<button role=tab aria-controls=all>All methods</button><p>Methods", "Methods"),
        ("<pre>answer = [](3x0)</pre>", "```\nanswer = [](3x0)\n```"),
        ("<table><tr><td>REAL<br>DOUBLE<br>FLOAT<br>MORE</table>", "| REAL<br>DOUBLE<br>FLOAT<br>MORE |"),
        (
            "<pre><code class=mjs>import it</code><code class=cjs>const it = that</code></pre>",
            "```\nimport it\n```\n\n```\nconst it = that\n```",
        ),
        (
            "<pre><i class=linenos> 8</i>make it\n<i class=linenos> 9</i>so at once</pre>",
            "```\nmake it\nso at once\n```",
        ),
        ("<p><a href=home><img src=big.png alt='The logo of pumps'></a></p>", ""),
        ("<p>See <a href='a.html#b(int)'>the method b</a> for it</p>", "See [the method b](<a.html#b(int)>) for it"),
        ("<p>Half is <math><mn>1</mn><mn>2</mn></math> of it.</p>", "Half is 1/2 of it."),
        ("<form action=find><label>Search terms of the manual: <input></label></form>", ""),
        ("<p>The handlers mod_authn_* and so on</p>", "The handlers mod\\_authn\\_\\* and so on"),
    ],
)
def test_what_belongs_to_the_site_or_is_published_is_not(page: str, markdown: str) -> None:
    assert checked(f"<main>{page}</main>", markdown).passed, checked(f"<main>{page}</main>", markdown).message


LEFT_OUT = [
    "<div class=toc><p>Table of contents</p><ul><li>One<li>Two</ul></div>",
    "<div class=page-feedback><p>Was this page helpful?</p><button>Yes</button> <button>No</button></div>",
    "<div id=footer>Version 2.0<br>Last updated 2026-03-30 09:12:44 UTC</div>",
    "<div class=navheader><table><tr><th>Chapter 9. Functions and operators<tr><td><a href=a>Prev</a></table></div>",
    "<div id=quickview><a href=a>How to do it</a><p>None at all.</p><a href=b>What else can be done with it</a></div>",
    "<p>Did this article answer your question at once?</p>",
]
"""Tools of a page, which its conversion leaves out."""


@pytest.mark.parametrize("tool", LEFT_OUT)
def test_what_the_conversion_leaves_out_on_purpose_is_not_lost(tool: str) -> None:
    page = f"<main><h1>Pumps</h1><p>Press the green key first.</p>{tool}<p>Then it starts to pump water.</p></main>"
    converted = convert(page)
    assert seen_is_published(converted, read_seen(page, {})).passed
    assert not seen_is_published(converted.model_copy(update={"left_out": ()}), read_seen(page, {})).passed


def test_a_statement_in_a_box_of_such_a_name_is_lost() -> None:
    page = (
        "<main><p>Press the green key first.</p><div class=cookie-notice><p>The cookies of the oven burn.</div></main>"
    )
    assert "the cookies of the" in seen_is_published(convert(page), read_seen(page, {})).message


def test_what_a_box_beside_the_page_says_before_the_title_is_not_lost() -> None:
    box = "<div id=sidebar><p>Press left and right to turn pages.</p></div>"
    page = (
        f"<body><p>Press the green key first.</p>{box}<h1>Pumps</h1><p>Press the green key to turn it off.</p></body>"
    )
    converted = convert(page)
    assert seen_is_published(converted, read_seen(page, {})).passed
    assert not seen_is_published(converted.model_copy(update={"left_out": ()}), read_seen(page, {})).passed


def test_what_the_model_of_main_content_leaves_out_is_not_lost() -> None:
    page = f"<main>{''.join(f'<p>Sentence {number} of it is here.</p>' for number in range(4))}</main>"
    left_out = LeftOutText(text="Sentence 2 of it is here.", why="model")
    converted = article("\n\n".join(f"Sentence {number} of it is here." for number in (0, 1, 3)))
    assert not seen_is_published(converted, read_seen(page, {})).passed
    assert seen_is_published(converted.model_copy(update={"left_out": (left_out,)}), read_seen(page, {})).passed


def test_a_picture_that_is_published_is_not_missed_in_another_form() -> None:
    page = "<main><picture><source srcset='big.webp'><img src=big.png></picture></main>"
    assert checked(page, "", PICTURE).passed


def test_without_a_declared_main_content_what_stands_between_published_blocks_counts() -> None:
    first, last = "The first sentence of this page.", "The last sentence of the page."
    page = (
        f"<p>A header of the whole site.</p><p>{first}</p><p>{{}}</p><p>{last}</p><p>All rights are reserved here.</p>"
    )
    markdown = f"{first}\n\n{last}"
    assert checked(page.format("x"), markdown).passed
    assert "what was lost here" in checked(page.format("What was lost here."), markdown).message


@pytest.mark.parametrize(
    "header",
    [
        "<p>The pump of the north</p>",  # stands in the middle of the markdown
        "<p>The first page of the pump</p>",  # its words stand there, but not one after the other
        "<p><a href=a>The first sentence of this</a></p>",
    ],
)
def test_the_published_part_does_not_begin_in_the_header_of_a_site(header: str) -> None:
    first, last = "The first sentence of this page.", "The pump of the north is the last one."
    page = f"{header}<p>What else the site has.</p><p>{first}</p><p>In the middle it stands.</p><p>{last}</p>"
    markdown = f"{first}\n\nIn the middle it stands.\n\n{last}"
    assert checked(page, markdown).passed, checked(page, markdown).message
    assert not checked(page, markdown.replace("In the middle it stands.", "")).passed


def test_the_time_grows_with_the_page_only() -> None:
    def check(size: int) -> None:
        sentences = [f"Sentence {number} has some words." for number in range(size)]
        page = "<div>" * size + "<b>" * size + "".join(f"<p>{sentence}</p>" for sentence in sentences)
        seen_is_published(article("\n\n".join(sentences)), read_seen(page, {}))

    assert grows_in_proportion(check, 2_000)


@pytest.mark.parametrize("sheet", ["a", "a{", "a{display", ".a "])
def test_the_time_grows_with_the_style_sheet_only(sheet: str) -> None:
    assert grows_in_proportion(lambda size: read_seen(f"<style>{sheet * size}</style><p>Words", {}), 20_000)
