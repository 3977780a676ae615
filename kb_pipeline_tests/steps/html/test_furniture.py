import pytest

from kb_pipeline.errors import EmptyArticleError
from kb_pipeline_tests.steps.html.pages import convert, markdown


@pytest.mark.parametrize(
    "furniture",
    [
        "<nav>GONE</nav>",
        "<footer>GONE</footer>",
        "<header><a href=/>GONE</a></header>",
        '<div role="navigation">GONE</div>',
        '<div class="navheader"><table><tr><td>GONE<td>GONE</table></div>',
        '<ul class="docnav top"><li>GONE</ul>',
        '<div class="sphinxsidebar">GONE</div>',
        '<div class="toc"><p>GONE</div>',
        '<div class="page-metadata">Created by <span class="author">GONE</span>, last modified on Jan 02, 2026</div>',
        '<div class="contents topic"><p>GONE</div>',
        '<div id="toc">GONE</div>',
        '<div id="path"><a href=a>GONE</a> &gt; <a href=b>GONE too</a></div>',
        '<div class="sidebar"><a href=a>GONE</a></div>',
        '<div class="menu"><ul><li><a href=a>GONE</a></ul></div>',
        '<div class="nextlink"><a href=b>GONE</a></div>',
        '<p><a href="e">Edit this page</a></p>',
        "<p><a href=a>Previous</a> | <a href=b>Next</a></p>",
        "<div>Was this page helpful? GONE</div>",
        "<table><tr><td>[<a href=a>&lt;&lt; GONE</a>] [<a href=b rel=previous>&lt; GONE too</a>]</table>",
        "<p>Next: <a href=a rel=next>GONE</a>, Up: <a href=b rel=up>GONE</a> [<a href=c>Index</a>]</p>",
        "<ul><li><a href=a hreflang=de>GONE</a><li><a href=b hreflang=fr>GONE</a></ul>",
        '<p hidden>GONE</p><p style="display: none">GONE</p>',
        "<table class=related><tr><th>GONE<tr><td><a href=a>GONE too</a></table>",
        "<script>GONE</script><style>GONE</style><noscript>GONE</noscript><!-- GONE --><template>GONE</template>",
        "<iframe>GONE</iframe><form><input value=GONE><button>GONE</button><textarea>GONE</textarea></form>",
        "<svg><text>GONE</text></svg>",
    ],
)
def test_navigation_and_page_tools_are_gone(furniture: str) -> None:
    assert markdown(f"<body>{furniture}<h1>Title</h1><p>Words</p>{furniture}</body>") == "# Title\n\nWords"


@pytest.mark.parametrize(
    "content",
    [
        '<div class="sidebar"><p>An aside of a handbook with <a href=a>a link</a> in its many words.</p></div>',
        "<p>See the <a href=a>next</a> page.</p>",
        '<p><a href="x">Next</a></p>',
        "<p>Edit this page by hand.</p>",
        "<p>Read <a href=a rel=next>the chapter about pumps</a> before.</p>",
        "<p>It never stops.<sup class=noprint>[citation needed]</sup></p>",
        '<h2 id="toc">Contents of the box</h2>',
        '<div class="contents"><p>All of it</p></div>',
        '<form action="/"><p>A page wrapped in a form</p></form>',
        "<article><header><p>By someone</p></header></article>",
        "<table class=related><tr><th>Modules<th>Directives<tr><td><a href=a>a</a><td><a href=b>b</a></table>",
    ],
)
def test_content_that_resembles_navigation_stays(content: str) -> None:
    assert convert(f"<body><h1>Title</h1><p>Words</p>{content}</body>").counts.words > 2


@pytest.mark.parametrize(
    "section",
    [
        "<section class=summary><h2>Nested classes</h2><ul><li><a href=a>A part of it</a></ul></section>",
        "<div class=top><p class=src><a id=open>open</a> :: <a href=a>FilePath</a> -> <a href=b>Handle</a></div>",
    ],
)
def test_sections_of_a_reference_that_hold_little_but_links_stay(section: str) -> None:
    assert convert(f"<h1>Title</h1><p>Words</p>{section}").counts.words > 4


def test_a_box_beside_the_page_that_comes_before_its_title_is_gone_whatever_it_says() -> None:
    box = "<div id=sidebar><form><input></form><p>With the arrow keys you go to other chapters.</p></div>"
    assert markdown(f"<body>{box}<div><h1>Title</h1><p>Words</p></div></body>") == "# Title\n\nWords"
    assert "arrow keys" in markdown(f"<body><div><h1>Title</h1><p>Words</p></div>{box}</body>")


@pytest.mark.parametrize("footer", ["<div id=footer><p>This is version 2.</p></div>", "<footer>By us</footer>"])
def test_links_that_follow_the_footer_are_navigation(footer: str) -> None:
    contents = "<div><p><a href=..>All manuals</a></p><h4><a href=index>The manual</a></h4></div>"
    assert markdown(f"<div><h1>Title</h1><p>Words</p>{footer}</div>{contents}") == "# Title\n\nWords"
    assert "All manuals" in markdown(f"<div><h1>Title</h1><p>Words</p>{footer}</div>{contents}<p>The next step</p>")


def test_a_section_on_cookies_stays_and_a_notice_that_cookies_are_used_is_gone() -> None:
    section = "<section class=cookie-notice><h2>Cookies</h2><p>Two cookies hold what a customer chose.</p></section>"
    notice = "<div class=cookie-notice><p>This site uses cookies to make itself better. <a href=a>More</a></p></div>"
    assert markdown(f"<main><h1>T</h1>{section}{notice}</main>").endswith("Two cookies hold what a customer chose.")


def test_a_box_called_tabs_is_navigation_only_if_it_holds_links() -> None:
    assert markdown("<h1>Title</h1><div class=tabs><p>Choose one.</div>") == "# Title\n\nChoose one."
    assert markdown("<h1>Title</h1><div class=tabs><a href=a>Main Page</a></div>") == "# Title"


@pytest.mark.parametrize(
    "name",
    ["share", "footer", "breadcrumb", "feedback", "pagination", "toc", "newsletter", "related", "noprint"],
)
@pytest.mark.parametrize(
    "section",
    [
        "<div class={}><h2>About it</h2><p>{}</p></div>",
        "<p class={}>{}</p>",
        "<section id={}><p>{}</p></section>",
        "<div class='card {}'><ul><li>{}</li></ul></div>",
    ],
)
def test_a_section_of_the_main_content_that_is_about_such_a_thing_stays(section: str, name: str) -> None:
    prose = "The <a href=x>menu</a> of a letter holds what its sender wrote there."
    assert "holds what its sender" in markdown(f"<main><h1>T</h1><p>Words</p>{section.format(name, prose)}</main>")


@pytest.mark.parametrize(
    "name",
    ["share", "footer", "related", "newsletter", "helpful", "cookie-notice", "page-footer", "search-form", "pager"],
)
@pytest.mark.parametrize(
    "body",
    [
        "<ol><li>Open the menu</li><li>Choose KEPT</li></ol>",
        "<dl><dt>timeout</dt><dd>Seconds to wait, KEPT</dd></dl>",
        "<table><tr><th>Size<th>Price<tr><td>Small<td>KEPT</table>",
        "<pre>pager: KEPT</pre>",
        "<div><pre>pager: KEPT</pre><button>Copy</button></div>",
        "<p>Der Kasten bleibt stehen: KEPT</p>",
    ],
)
def test_a_section_of_the_main_content_stays_for_its_heading_if_it_leads_nowhere_else(name: str, body: str) -> None:
    page = "<main><h1>T</h1><p>Words</p><section class={0}><h2>On it</h2>{1}</section></main>"
    assert "KEPT" in markdown(page.format(name, body))
    for tool in ("<p>Get all news <a href=a>by mail</a></p>", "<p>Get all news by mail</p><form><input></form>", ""):
        assert markdown(page.format(name, tool)) == "# T\n\nWords"


def test_a_section_of_a_page_without_a_main_element_stands_between_headings() -> None:
    section = "<div class=share><h2>Share a folder</h2><p>Choose Share in its menu.</p></div>"
    page = "<body><h1>Folders</h1><p>Words</p>{}</body>"
    assert "its menu" in markdown(page.format(f"{section}<h2>Delete a folder</h2><p>Words</p>"))
    assert "its menu" not in markdown(page.format(section))
    assert "its menu" not in markdown(f"<body>{section}<h1>Folders</h1><p>Words</p><h2>Delete</h2></body>")


@pytest.mark.parametrize(
    "steps",
    [
        "<nav><p>Follow these steps in this order.</p><ol><li>Unplug it.</li></ol></nav>",
        "<section role=navigation><h2>With keys</h2><p>Tab goes on</p></section>",
        "<blockquote><p>Words</p><footer>Ann in a book</footer></blockquote>",
        "<figure><blockquote>Words</blockquote><figcaption>x</figcaption><footer>Ann in a book</footer></figure>",
    ],
)
def test_what_leads_nowhere_is_no_navigation_of_the_main_content(steps: str) -> None:
    assert convert(f"<main><h1>T</h1><p>Words</p>{steps}</main>").counts.words >= 6


@pytest.mark.parametrize(
    "furniture",
    [
        "<div class=footer><p>Copyright 2020 The Makers of Things. All rights reserved.</p></div>",
        "<div class=feedback><p>Was this page helpful to you? Tell us what you think of it.</p></div>",
        "<div class=share>Share this: <a href=a>here</a> <a href=b>there</a></div>",
        "<div class=related><h2>Related articles</h2><a href=a>How to send a letter to a friend.</a></div>",
        "<div class=noprint><a href=a>Print</a> <a href=b>Edit</a></div>",
        "<p class=noprint>Back to top</p>",
        "<div class=toc><ul><li><a href=#a>The first section of it.</a></li></ul></div>",
        "<div class=breadcrumb><a href=/>The help centre</a> / <a href=/a>All of the articles</a></div>",
    ],
)
def test_page_tools_in_the_main_content_are_gone(furniture: str) -> None:
    assert markdown(f"<main><h1>T</h1><p>Words</p>{furniture}</main>") == "# T\n\nWords"


def test_the_end_of_a_hand_written_page_is_gone_after_its_last_rule() -> None:
    end = "<hr><p><a href=a>Main index</a> | <a href=b>Full index</a></p><p>© 2003 <a href=c>The team</a></p>"
    assert markdown(f"<div><h2>NAME</h2><hr><p>Words</p>{end}</div>") == "## NAME\n\n---\n\nWords"


def test_what_is_said_after_the_last_rule_stays_before_a_notice() -> None:
    page = "<h1>The crew</h1><p>One</p><hr><p>Joe maintains the tests.</p><p><i>This page last modified in 2018</i></p>"
    assert markdown(page).endswith("Joe maintains the tests.")


def test_footnotes_after_a_rule_stay() -> None:
    notes = '<div class="footnotes"><hr><p><a href="#1">1</a> See <a href=a>there</a></p></div>'
    assert "[there](a)" in markdown(f"<p>Words</p>{notes}")


def test_main_content_is_what_the_page_declares() -> None:
    assert markdown("<body><div>Site</div><main><h1>T</h1><p>x</p></main><div>More</div></body>") == "# T\n\nx"


def test_an_article_element_that_holds_little_of_the_page_is_not_the_main_content() -> None:
    assert markdown("<h1>T</h1><p>Much more text than there</p><article>A comment</article>").startswith("# T\n\nMuch")


def test_a_title_outside_of_main_is_moved_in() -> None:
    assert markdown("<body><div><h1>T</h1></div><main><p>x</p></main></body>") == "# T\n\nx"


@pytest.mark.parametrize(
    "page", ["<nav>a</nav>", "<!-- x -->", "<p> &nbsp; </p>", "<frameset><frame src=x></frameset>"]
)
def test_a_page_of_navigation_only_is_an_empty_article(page: str) -> None:
    with pytest.raises(EmptyArticleError, match="an-article: "):
        convert(page)


@pytest.mark.parametrize(
    "way",
    [
        '<p class="path"><a href="/">Help Center</a> &raquo; <a href="/docs">Agents</a> &raquo; Canned responses</p>',
        '<div><a href="/">Help</a> &gt; <a href="/docs">Agents</a> &gt; A name longer than its links</div>',
        '<table><tr><td><a href="/">Help</a> / <a href="/docs">Agents</a></td></tr></table>',
        '<div><p><a href="/">Help</a> → Canned responses</p></div>',
    ],
)
def test_the_way_to_the_page_before_its_title_is_left_out(way: str) -> None:
    assert markdown(f"{way}<h1>Canned responses</h1><p>text") == "# Canned responses\n\ntext"


@pytest.mark.parametrize(
    "html",
    [
        "<h1>t</h1><p><a href='/s'>Settings</a> &gt; <a href='/r'>Rules</a></p>",
        "<p>Go to <a href='/s'>Settings</a> &gt; <a href='/r'>Rules</a></p><h1>t</h1>",
        "<p><a href='/s'>Settings</a> &gt; Rules &gt; New &gt; Save</p><h1>t</h1>",
        "<p><a href='/s'>Settings</a> &gt; <a href='/r'>Rules</a></p>",
        "<p><a href='/s'>Settings</a>, <a href='/r'>Rules</a></p><h1>t</h1>",
    ],
)
def test_a_way_that_the_article_describes_stays(html: str) -> None:
    assert "[Settings](/s)" in markdown(html)
