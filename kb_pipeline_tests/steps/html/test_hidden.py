import pytest

from kb_pipeline.errors import EmptyArticleError, UnreadableArticleError
from kb_pipeline_tests.growth import grows_in_proportion
from kb_pipeline_tests.steps.html.pages import convert, image, markdown


def page(hidden: str, style: str = "") -> str:
    return f"<head><style>{style}</style></head><main><h1>Title</h1><p>Words</p>{hidden}</main>"


@pytest.mark.parametrize(
    "style",
    [
        "display:none",
        "DISPLAY : None !important",
        "dis/**/play:none;display:none;display:nonsense",
        "d\\69splay:none",
        "visibility:hidden",
        "visibility:collapse",
        "opacity:0",
        "opacity:.01",
        "opacity:1%",
        "filter:opacity(0)",
        "font-size:0",
        "font-size:1px",
        "font-size:.01em",
        "font-size:1%",
        "font-size:calc(16px - 1rem)",
        "font-size:clamp(0px, 1vw, 1px)",
        "font:0/0 a",
        "font:italic 1px serif",
        "--size:0;font-size:var(--size)",
        "font-size:var(--none, 0)",
        "position:absolute;left:-9999px",
        "position:fixed;top:-100em",
        "position:absolute;inset:0 auto auto -9999px",
        "position:absolute;inset-inline-start:-9999px",
        "position:relative;right:9999px",
        "margin:0 0 0 -9999px",
        "margin-left:-200vw",
        "text-indent:-9999px",
        "text-indent:-100em;overflow:hidden",
        "transform:translateX(-9999px)",
        "translate:-200vw 0",
        "transform:scale(0)",
        "transform:rotate(3deg) scale3d(0,0,0)",
        "transform:matrix(0,0,0,0,0,0)",
        "scale:0",
        "zoom:.01",
        "transform:rotateX(90deg)",
        "position:absolute;clip:rect(0,0,0,0)",
        "position:absolute;clip:rect(1px 1px 1px 1px)",
        "clip-path:inset(100%)",
        "clip-path:inset(50%)",
        "clip-path:inset(0 0 100% 0)",
        "-webkit-clip-path:circle(0)",
        "clip-path:polygon(0 0, 0 0, 0 0)",
        "height:0;overflow:hidden",
        "max-height:0;overflow:clip",
        "width:1px;height:1px;overflow:hidden",
        "block-size:0;overflow-y:hidden",
        "content-visibility:hidden",
        "color:white",
        "color:#fff",
        "color:#fefefe",
        "color:rgb(255 255 255)",
        "color:rgba(0,0,0,0)",
        "color:rgb(0 0 0 / 0%)",
        "color:hsl(0,0%,100%)",
        "color:oklch(1 0 0)",
        "color:color(srgb 1 1 1)",
        "color:transparent",
        "color:#0000",
        "-webkit-text-fill-color:transparent",
        "color:navy;background:navy",
        "color:red;background-color:rgb(100%,0%,0%)",
        "color:Canvas",
    ],
)
def test_what_a_style_hides_is_no_text(style: str) -> None:
    assert markdown(page(f'<p style="{style}">GONE</p>')) == "# Title\n\nWords", "as an attribute"
    assert markdown(page('<div class="Box"><p class=x>GONE</p></div>', f".Box > .x {{{style}}}")) == "# Title\n\nWords"


@pytest.mark.parametrize(
    "sheet",
    [
        ".h{display:none}",
        "p.h{display:none}",
        "#i{display:none}",
        "main .h{display:none}",
        "p + p{display:none}",
        "h1 ~ p + p{display:none}",
        "p:nth-of-type(2){display:none}",
        "main > :last-child{display:none}",
        "p:not(:first-of-type){display:none}",
        ":is(p,div):is(.h,.j){display:none}",
        "[data-x]{display:none}",
        "[data-x^='on' i]{display:none}",
        "p:has(b){display:none}",
        "h2, .h , h3 {display:none}",
        ".\\68{display:none}",
        "/* } */ .h /* { */ {display:none}",
        "@media screen{.h{display:none}}",
        "@media (min-width:1px){.h{display:none}}",
        "@media not print{@media (display-mode:browser){.h{display:none}}}",
        "@layer x{.h{display:none}}",
        "main{.h{display:none}}",
        "main{& > p{&.h{display:none}}}",
        "@import url(x;y);@charset 'a';.h{display:none}",
        "<!-- .h{display:none} -->",
        ".h{display:none",
        ".h{display:block} p.h{display:none} .h{display:block}",
        ".h{display:none !important} #i{display:block}",
        ".h{visibility:hidden;visibility:shown}",
        "::before, .h{color:red} .h{display:none}",
        ".H{display:none}",
        ".h:not(:modal){display:none}",
        ".h{height:0;padding:2px;overflow:hidden}",
    ],
)
def test_what_a_rule_of_the_page_hides_is_no_text(sheet: str) -> None:
    assert markdown(page('<p class="h j" id=i data-x=One><b>GONE</b></p>', sheet)) == "# Title\n\nWords"


@pytest.mark.parametrize(
    "sheet",
    [
        "@media print{.h{display:none}}",
        "@media (max-width:600px){.h{display:none}}",
        "@media print, (prefers-color-scheme:dark){.h{color:#fff}}",
        "@supports (display:grid){.h{display:none}}",
        "@supports not (display:grid){.h{display:none}}",
        "@scope (main){.h{display:none}}",
        "@container (width > 1px){.h{display:none}}",
        ".h{display:block} @layer b{.h{display:none}}",
        ".h{display:flow-root list-item} .h{mso-hide:all}",
        ".h{font-size:0;font:medium serif}",
        ".h{opacity:0;animation:appear 1s forwards}",
        ".h{color:#fff;text-shadow:0 0 2px black}",
        ".h::before{position:absolute;background:navy} .h{color:#fff}",
        "main{display:flex} .h{flex:1;width:0;overflow:hidden}",
        "@keyframes x{from{opacity:0}}",
        "@font-face{font-size:0}",
        ".h:hover{display:none}",
        ".h::before{display:none}",
        ".h:before{display:none}",
        ".h + p{display:none}",
        ".h{display:none} p.h{display:block}",
        ".h{display:none} .h{display:flex}",
        ".h{color:#fff;background:navy}",
        "main{background:#111} .h{color:#fff}",
        "main{background:url(dark.png)} .h{color:#fff}",
        "main{background:linear-gradient(red,blue)} p{color:#fff}",
        ".h{opacity:.6;font-size:9px;color:#ccc}",
        "main{font-size:0} p, h1{font-size:16px}",
        "main{visibility:hidden} main *{visibility:visible}",
        "body{display:none}",
        "html{opacity:0}",
        "body{visibility:hidden}",
        "body{color:#fff}",
        ".h{position:absolute;left:-20px;margin-left:-10px;text-indent:2em}",
        ".h{left:-9999px}",
        ".h{margin:0 -9999px;padding:0 9999px}",
        ".h{margin-bottom:-9999px;padding-bottom:9999px}",
        ".h{position:absolute;left:50%;width:1024px;margin-left:-512px}",
        ".h{height:0}",
        ".h{width:100%;overflow:hidden}",
        ".h{height:0;padding-bottom:56%;overflow:hidden}",
        ".h{padding-left:-9999px}",
        ".h{width:1px;min-width:100%;overflow:auto}",
        ".h{max-height:0;min-height:3em;overflow:hidden}",
        ".h{transform:translate(-50%,-50%) scale(.9)}",
        ".h{clip-path:inset(10px);clip:rect(0,0,0,0)}",
        "h2{display:none}",
    ],
)
def test_what_readers_see_stays(sheet: str) -> None:
    assert markdown(page("<p class=h>Stays</p>", sheet)) == "# Title\n\nWords\n\nStays"


OLD_PAGES = (
    "",
    '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 3.2 Final//EN">',
)
NEW_PAGES = (
    "<!doctype html>",
    '<!DOCTYPE HTML PUBLIC "-//W3C//DTD HTML 4.01 Transitional//EN" "http://www.w3.org/TR/html4/loose.dtd">',
    '<!DOCTYPE html PUBLIC "-//W3C//DTD XHTML 1.0 Strict//EN" "http://www.w3.org/TR/xhtml1/DTD/xhtml1-strict.dtd">',
)


@pytest.mark.parametrize(
    ("doctype", "selector", "is_seen"),
    [
        *(
            (doctype, selector, True)
            for doctype in NEW_PAGES
            for selector in (".note", "#n", "p.note", "[data-x=some]")
        ),
        *(
            (doctype, selector, False)
            for doctype in NEW_PAGES
            for selector in (".Note", "#N", "P.Note", "[DATA-X=Some]")
        ),
        *((doctype, selector, False) for doctype in OLD_PAGES for selector in (".note", "#N", "P.NOTE")),
    ],
)
def test_only_in_old_pages_a_name_in_another_case_is_the_same(doctype: str, selector: str, is_seen: bool) -> None:
    text = "<p class=Note id=N data-x=Some>secret</p>"
    assert ("secret" in markdown(doctype + page(text, f"{selector} {{display:none}}"))) is is_seen


@pytest.mark.parametrize(
    ("html", "seen"),
    [
        ('<p style="visibility:hidden">GONE <b style="visibility:visible">seen</b> GONE</p>', "**seen**"),
        ('<ul style="font-size:0">GONE<li style="font-size:16px">seen</li></ul>', "- seen"),
        ('<p style="color:#fff">GONE <a href=x>seen</a></p>', "[seen](x)"),
        ('<p>se<span style="font-size:0">GONE</span>en</p>', "seen"),
        ("<p><font color=white>GONE</font>seen<font color=ffffff>GONE</font></p>", "seen"),
        ("<table bgcolor=navy><tr><td><font color=white>seen</font></td><td>x</td></tr><tr><td>y</table>", "seen"),
        ('<div hidden style="display:block">seen</div>', "seen"),
        ("<details><summary>More</summary>seen</details>", "**More**\n\nseen"),
        ('<p aria-hidden="true">GONE</p><p>seen</p>', "seen"),
        ('<div aria-hidden="true"><img src=a.png>seen</div>', "seen"),
        (
            f'<div aria-hidden="true">{"seen " * 20}<span aria-hidden="true">GONE</span></div><p role="dialog">x</p>',
            "seen",
        ),
        ('<p><i aria-hidden="true">home</i>seen <span aria-hidden=true>arrow_forward</span></p>', "seen"),
        ('<p style="opacity:.3"><span style="opacity:.1">GONE</span>seen</p>', "seen"),
    ],
)
def test_only_what_is_hidden_is_left_out(html: str, seen: str) -> None:
    text = markdown(page(html))
    assert seen in text
    assert "GONE" not in text
    assert "home" not in text
    assert "arrow" not in text


@pytest.mark.parametrize("style", ["display:none", "visibility:hidden", "opacity:0", "position:fixed;left:-999em"])
def test_a_hidden_picture_is_left_out(style: str) -> None:
    converted = convert(page(f'<div style="{style}"><img src=a.png alt="Ignore everything"></div>'), image("a.png"))
    assert converted.images == ()
    assert "Ignore" not in converted.markdown


def test_hidden_headings_are_no_titles() -> None:
    converted = convert('<title>x</title><h1 style="display:none">GONE</h1><h2>Real</h2><p>text')
    assert "GONE" not in converted.title


def test_the_words_that_may_be_hidden_are_kept_and_said() -> None:
    linked = '<link rel="stylesheet" href="site.css">'
    converted = convert(page(f'{linked}<p style="color:white">one <b>two</b></p><p style="opacity:0">GONE</p>'))
    assert converted.markdown.strip().endswith("one **two**")
    assert converted.warnings == (
        "1 word that readers do not see was left out (hidden by opacity)",
        "2 words were kept that readers may not see (by color)",
    )


@pytest.mark.parametrize(
    "style",
    [
        "opacity:0;transition:opacity 1s",
        "opacity:0;transform:translateY(30px)",
        "opacity:0;translate:0 2em",
        "visibility:hidden;animation-name:none",
    ],
)
def test_words_in_a_gap_of_the_page_that_scrolling_fills_are_kept_and_said(style: str) -> None:
    article = convert(page(f"<div style='{style}'><p>Press the key.</p></div>"))
    assert article.markdown.endswith("Press the key.\n")
    assert article.warnings[0].startswith("3 words were kept that readers may not see (by ")
    assert "Press" not in markdown(page(f"<div style='{style};position:absolute'><p>Press the key.</p></div>"))


def test_the_words_that_were_left_out_are_said() -> None:
    html = page(
        '<p hidden>one two</p><p style="opacity:0">three <b>four</b><script>x y</script></p>'
        '<i style="font-size:0">five</i>'
    )
    assert convert(html).warnings == (
        "5 words that readers do not see were left out (hidden by display, opacity, font-size)",
    )
    assert convert(html).counts.words == 2
    assert convert(page("<nav hidden>a b</nav><div class=toc hidden>c</div><p hidden> ¶ </p>")).warnings == ()


@pytest.mark.parametrize(
    "panel",
    [
        "<button aria-controls=p aria-expanded=false>More</button><div id=p hidden>seen</div>",
        "<a data-toggle=collapse href='#p'>More</a><div id=p style='display:none'>seen</div>",
        "<a data-bs-toggle=collapse data-bs-target='.c'>A</a><div class=c style='height:0;overflow:hidden'>seen</div>",
        "<button onclick=\"show(event, 'p')\">More</button><div id=p style='display:none'>seen</div>",
        "<button data-tab=p>More</button><div id=p style='opacity:0'>seen</div>",
        "<h3><button aria-expanded=false>More</button></h3><div hidden>seen</div>",
        "<dl><dt role=button aria-expanded=false>More<dd style='visibility:hidden'><b>seen</b></dl>",
        "<ul role=tablist><li role=tab>One<li role=tab>Two</ul><div role=tabpanel hidden>seen</div>",
        "<style>.p{display:none}#r:checked~.p{display:block}</style><input type=radio id=r><label for=r>More</label>"
        "<div class=p>seen</div>",
        "<style>.p{display:none}.p:target{display:block}</style><a href='#p'>More</a><div class=p id=p>seen</div>",
        "<button onclick='d.showModal()'>More</button><dialog id=d><p>seen</dialog>",
        "<button commandfor=d command=show-modal>More</button><dialog id=d>seen</dialog>",
        "<dialog open>seen</dialog>",
        "<a aria-controls=o>A</a><div id=o hidden><button aria-controls=p>B</button><p id=p hidden>seen</div>",
    ],
)
def test_what_a_click_opens_is_text(panel: str) -> None:
    assert "seen" in markdown(page(panel))


@pytest.mark.parametrize(
    "panel",
    [
        "<dialog id=d><p>seen</dialog>",
        "<div role=tabpanel hidden>GONE</div>",
        "<button aria-controls=p></button><div id=p hidden>GONE</div>",
        "<button hidden aria-controls=p>More</button><div id=p hidden>GONE</div>",
        "<button style='color:#fff' aria-controls=p>More</button><div id=p hidden>GONE</div>",
        "<div id=p hidden>GONE <button aria-controls=p>More</button></div>",
        "<p id=p hidden><button aria-controls=q>A</button>GONE<p id=q hidden><button aria-controls=p>B</button>GONE",
        "<a href='#p'>More</a><div id=p hidden>GONE</div>",
        "<button aria-controls=p>More</button><div id=p hidden><p style='font-size:0'>GONE</p></div>",
        "<button aria-controls=p>More</button><div id=p style='position:absolute;left:-9999px'>GONE</div>",
    ],
)
def test_what_no_click_opens_is_none(panel: str) -> None:
    assert "GONE" not in markdown(page(panel))


def test_a_control_in_one_of_several_boxes_of_the_same_name_opens_none() -> None:
    assert (
        markdown("<p>Words<div id=a hidden>GONE</div><div id=a hidden><button aria-controls=a>Open</button>") == "Words"
    )


def test_an_article_for_browsers_without_scripts_is_read_where_there_is_no_other() -> None:
    for_them = "<noscript><h1>T</h1><p>Words of it</p></noscript>"
    assert markdown(f"<header><a href=/>Home</a></header><div id=app></div>{for_them}") == "# T\n\nWords of it"
    assert markdown(f"<h1>Title</h1><p>Words</p>{for_them}") == "# Title\n\nWords"
    with pytest.raises(EmptyArticleError):
        markdown("<div id=app></div><noscript>Please enable scripts to read this</noscript>")


@pytest.mark.parametrize("hidden", ["\U000e0041\U000e0042", "&#xE0041;", "\u200b", "\u202e", "\u3164", "\ufe01\ufe02"])
def test_characters_that_nobody_sees_are_left_out(hidden: str) -> None:
    assert markdown(f"<p>a{hidden}b") == "ab"


@pytest.mark.parametrize(
    "sheet",
    [
        "<link rel=stylesheet href='data:text/css,.h%7Bdisplay:none%7D'>",
        "<link rel=stylesheet href='data:text/css;charset=utf-8;base64,Lmh7ZGlzcGxheTpub25lfQ=='>",
        "<style media=screen>.h{display:none}</style>",
        "<style type=text/css>.h{display:none}</style>",
    ],
)
def test_a_sheet_may_stand_anywhere_on_the_page(sheet: str) -> None:
    assert markdown(f"<p>Words<p class=h>GONE</p>{sheet}") == "Words"


@pytest.mark.parametrize("attributes", ["media=print", "type=text/plain", "media='(max-width: 10px)'"])
def test_a_sheet_that_does_not_apply_hides_nothing(attributes: str) -> None:
    assert markdown(f"<style {attributes}>.h{{display:none}}</style><p class=h>Words") == "Words"


def test_sheets_that_cannot_be_tried_on_the_page_are_refused() -> None:
    rules = "".join(f":not(#x{number}){{display:none}}" for number in range(3_000))
    with pytest.raises(UnreadableArticleError, match="too many style rules"):
        markdown(f"<style>{rules}</style>" + "<p>x" * 300)


def test_a_value_of_many_blanks_is_read_in_proportion_to_its_length() -> None:
    assert grows_in_proportion(lambda size: markdown(f"<style>p{{color:red{' ' * size}x}}</style><p>seen"), 40_000)


@pytest.mark.slow("builds a whole knowledge base")
def test_silent_elements_in_silent_elements_are_counted_in_proportion_to_their_depth() -> None:
    nested = "<div aria-hidden='true'>"
    assert grows_in_proportion(lambda size: markdown(nested * size + "<p>a b" * size), 1_600)
