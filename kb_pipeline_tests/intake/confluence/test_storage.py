"""What Confluence stores of a page becomes HTML: all that its author wrote, and nothing of other pages."""

import pytest

from kb_pipeline.errors import IntakeError
from kb_pipeline.intake.confluence.storage import html_of


class Places:
    """Everything is somewhere."""

    def page(self, title: str, space: str) -> str:
        return f"page:{space}:{title}"

    def file(self, name: str) -> str:
        return f"file:{name}"

    def picture(self, name: str) -> str:
        return f"picture:{name}"


def shown(storage: str) -> str:
    return html_of(storage, Places()).removeprefix("<div>").removesuffix("</div>")


def macro(name: str, inside: str) -> str:
    return f'<ac:structured-macro ac:name="{name}" ac:schema-version="1">{inside}</ac:structured-macro>'


def parameter(name: str, value: str) -> str:
    return f'<ac:parameter ac:name="{name}">{value}</ac:parameter>'


def rich(inside: str) -> str:
    return f"<ac:rich-text-body>{inside}</ac:rich-text-body>"


def plain(inside: str) -> str:
    return f"<ac:plain-text-body><![CDATA[{inside}]]></ac:plain-text-body>"


@pytest.mark.parametrize(
    ("storage", "html"),
    [
        ("<p>3&nbsp;m &lt; 4 &amp; &rsquo; &unknown;</p>", "<p>3\xa0m &lt; 4 &amp; \u2019 &amp;unknown;</p>"),
        (
            macro("code", parameter("language", "py") + parameter("title", "Run") + plain("a < b &nbsp;\n  c"))
            + "after",
            '<div><p>Run</p><pre><code class="language-py">a &lt; b &amp;nbsp;\n  c</code></pre></div>after',
        ),
        (macro("noformat", plain("x")), "<div><pre><code>x</code></pre></div>"),
        (
            macro("warning", parameter("title", "Hot") + rich("Mind <p>the <b>steam</b></p>")),
            '<div class="admonition warning"><p class="admonition-title">Hot</p>'
            "<div>Mind <p>the <b>steam</b></p></div></div>",
        ),
        (
            macro("expand", parameter("title", "More") + rich(macro("info", rich("<p>inside</p>")))),
            "<details><summary>More</summary><div>"
            '<div class="admonition info"><div><p>inside</p></div></div></div></details>',
        ),
        (macro("excerpt", rich("<p>kept</p>")), '<div class="admonition excerpt"><div><p>kept</p></div></div>'),
        (f"<p>It is {macro('status', parameter('title', 'DONE'))} now</p>", "<p>It is <span>DONE</span> now</p>"),
        (
            macro("include", parameter("", '<ac:link><ri:page ri:content-title="Secret"/></ac:link>')) + "<p>x</p>",
            "<span></span><p>x</p>",
        ),
        (
            '<ac:image ac:alt="A"><ri:attachment ri:filename="a.png"/><ac:caption><p>Fig 1</p></ac:caption></ac:image>',
            '<figure><img src="picture:a.png" alt="A"><figcaption>Fig 1</figcaption></figure>',
        ),
        (
            '<ac:image><ri:url ri:value="https://example.org/a.png"/></ac:image>',
            '<span><img src="https://example.org/a.png" alt=""></span>',
        ),
        (
            '<ac:image><ri:attachment ri:filename="a.png"><ri:page ri:content-title="B"/></ri:attachment></ac:image>',
            "<span></span>",
        ),
        ('<ac:link><ri:page ri:content-title="B" ri:space-key="K"/></ac:link>', '<a href="page:K:B">B</a>'),
        (
            '<ac:link><ri:page ri:content-title="B"/><ac:link-body>to <em>b</em></ac:link-body></ac:link>.',
            '<a href="page::B">to <em>b</em></a>.',
        ),
        (
            '<ac:link><ri:attachment ri:filename="m.pdf"/><ac:plain-text-link-body><![CDATA[the <m>]]>'
            "</ac:plain-text-link-body></ac:link>",
            '<a href="file:m.pdf">the &lt;m&gt;</a>',
        ),
        ('<p>by <ac:link><ri:user ri:account-id="5"/></ac:link>!</p>', "<p>by <span></span>!</p>"),
        (
            "<ac:task-list><ac:task><ac:task-id>1</ac:task-id><ac:task-status>complete</ac:task-status>"
            "<ac:task-body>Do it</ac:task-body></ac:task></ac:task-list>",
            "<ul><li><span>\u2611 </span>Do it</li></ul>",
        ),
        (
            '<ac:layout><ac:layout-section ac:type="single"><ac:layout-cell><p>x</p></ac:layout-cell>'
            "</ac:layout-section></ac:layout>",
            "<div><div><div><p>x</p></div></div></div>",
        ),
        (
            '<ac:adf-extension><ac:adf-node type="panel"><ac:adf-content><p>a</p></ac:adf-content></ac:adf-node>'
            "<ac:adf-fallback><p>a</p></ac:adf-fallback></ac:adf-extension>",
            "<p>a</p>",
        ),
        ("<p>Type <ac:placeholder>your name</ac:placeholder>here</p>", "<p>Type here</p>"),
        ('<p>On <time datetime="2026-01-02"/></p>', '<p>On <time datetime="2026-01-02">2026-01-02</time></p>'),
        ('<p><ac:emoticon ac:name="tick" ac:emoji-fallback="\u2713"/> ok</p>', "<p><span>\u2713</span> ok</p>"),
        ("", ""),
    ],
)
def test_what_is_written_is_shown(storage: str, html: str) -> None:
    assert shown(storage) == html


@pytest.mark.parametrize("storage", ["<p>half", "<p>a</div>", "<p>a & b</p>", "<x:y/>", "<b>" * 3000 + "</b>" * 3000])
def test_what_cannot_be_read_whole_is_refused(storage: str) -> None:
    with pytest.raises(IntakeError, match="cannot be read"):
        html_of(storage, Places())


def test_entities_of_its_own_are_not_resolved() -> None:
    with pytest.raises(IntakeError):
        html_of('</div><!DOCTYPE x [<!ENTITY e SYSTEM "file:///etc/passwd">]><div>&e;', Places())
