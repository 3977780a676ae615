"""What readers of a page see, by a real browser: no word that it shows is lost, and common ways to hide are told.

The browser shows a word if another one of the same width in its place makes the page look different.
"""

from collections.abc import Iterator

import pytest
from playwright.sync_api import Page

from kb_pipeline_tests.dagster_ui import browsing
from kb_pipeline_tests.steps.html.pages import convert

pytestmark = pytest.mark.browser

WORD, OTHER = "TARGET", "LIQUID"
DARK = "<svg style='{}' width=600 height=300><rect width=600 height=300 fill=navy /></svg>"
WHITE = "<p style='color:#fff'>TARGET</p>"

SHOWN = [
    "<style>.note{display:none}</style><p class=Note>TARGET",
    "<style>#N[data-x=some]{display:none}</style><p id=N data-x=Some>TARGET",
    "<style>.x{display:block} @layer b{.x{display:none}}</style><p class=x>TARGET",
    "<style>@layer a,b; @layer b{.x{display:block}} @layer a{.x{display:none}}</style><p class=x>TARGET",
    "<style>@layer a{.x{display:block !important}} .x{display:none !important}</style><p class=x>TARGET",
    "<style>@layer a{.x{display:block} @layer b{.x{display:none}}}</style><p class=x>TARGET",
    "<style>@layer a.b{.x{opacity:0}} @layer a{.x{opacity:1}}</style><p class=x>TARGET",
    "<style>@scope (nav){.x{display:none}}</style><p class=x>TARGET",
    "<style>.x{display:none} @scope (main){.x{display:block}}</style><p class=x>TARGET",
    "<style>main{container-type:inline-size} @container (max-width:9px){.x{display:none}}</style><p class=x>TARGET",
    "<style>@supports (none:none){.x{display:none}}</style><p class=x>TARGET",
    "<style>.x{display:none} @supports not (none:none){.x{display:block}}</style><p class=x>TARGET",
    "<style>@-moz-document url-prefix(){.x{display:none}}</style><p class=x>TARGET",
    "<noscript><style>.x{display:none}</style></noscript><p class=x>TARGET",
    "<template><style>.x{display:none}</style></template><p class=x>TARGET",
    "<link rel='alternate stylesheet' title=x href='data:text/css,.x{display:none}'><p class=x>TARGET",
    "<div style='display:flex'><p style='flex:1;width:0;overflow:hidden'>TARGET</p></div>",
    "<div style='display:flex;flex-direction:column;height:90px'><p style='flex:1;height:0;overflow:auto'>TARGET</div>",
    "<div style='display:grid'><p style='min-height:40px;height:0;overflow:hidden'>TARGET</p></div>",
    "<p><span style='width:0;height:0;overflow:hidden'>TARGET</span>",
    "<p><b style='transform:scale(0)'>TARGET</b>",
    "<p><b style='text-indent:-9999px'>TARGET</b>",
    "<p><b style='margin-top:-9999px'>TARGET</b>",
    "<p><b style='content-visibility:hidden'>TARGET</b>",
    "<p style='height:0;min-height:fit-content;overflow:hidden'>TARGET",
    "<table><tr><td style='height:0;width:0;overflow:hidden'>TARGET</table>",
    "<p style='height:0;overflow:hidden;padding-bottom:3%'>TARGET",
    "<div style='width:300px'><p style='margin-top:-50%;padding-top:50%'>TARGET</div>",
    "<div style='width:300px;margin-left:600px'><p style='position:relative;left:-100%'>TARGET</div>",
    "<div style='height:9000px'></div><p style='position:relative;top:-4000px'>TARGET",
    "<p style='position:absolute;left:0;right:9999px'>TARGET",
    "<p style='position:sticky;top:-9999px'>TARGET",
    "<p style='margin-left:700px;position:relative;left:-600px'>TARGET",
    "<p style='position:absolute;top:6000px'>TARGET",
    "<p style='text-indent:-9999px'>x<br>TARGET",
    "<p style='text-indent:-9999px;text-align:right'>TARGET",
    "<p style='margin-left:-9999px;text-align:right'>TARGET",
    "<div style='position:absolute;left:-9999px'><p style='position:absolute;left:9999px'>TARGET</div>",
    "<div style='height:0;overflow:hidden'><p style='position:absolute'>TARGET</div>",
    "<div style='position:relative'>" + DARK.format("position:absolute;z-index:-1") + WHITE + "</div>",
    "<div>" + DARK.format("") + "<p style='color:#fff;margin-top:-200px'>TARGET</div>",
    "<div style='display:grid'>" + DARK.format("grid-area:1/1") + "<p style='color:#fff;grid-area:1/1'>TARGET</div>",
    "<div style='height:0'>" + DARK.format("") + "</div>" + WHITE,
    "<div style='position:absolute;background:navy;inset:0;z-index:-1'></div>" + WHITE,
    "<style>.x{position:relative;z-index:0} .x::before{content:'';position:absolute;inset:0;background:navy;z-index:-1}"
    "</style><div class=x>" + WHITE + "</div>",
    "<style>p::first-line{color:navy}</style>" + WHITE,
    "<div style='box-shadow:inset 0 0 0 99px navy'>" + WHITE + "</div>",
    "<style>:root{color-scheme:dark}</style>" + WHITE,
    "<meta name=color-scheme content=dark>" + WHITE,
    "<link rel=stylesheet href='http://a.example/site.css'><div class=dark>" + WHITE + "</div>",
    "<style>@import 'http://a.example/site.css';</style><div class=dark>" + WHITE + "</div>",
    "<style>@keyframes k{to{opacity:1}}</style><p style='opacity:0;animation:k 0s forwards'>TARGET",
    "<style>@keyframes k{to{visibility:visible}}</style><p style='visibility:hidden;animation:k 0s forwards'>TARGET",
    "<style>@keyframes k{to{color:navy}}</style><p style='color:#fff;animation:k 0s forwards'>TARGET",
    "<p style='color:transparent;text-shadow:0 0 2px black'>TARGET",
    "<p style='color:transparent;-webkit-text-stroke:1px black'>TARGET",
    "<p style='color:transparent;background:red;-webkit-background-clip:text'>TARGET",
    "<p style='color:#fff;filter:invert(1)'>TARGET",
    "<p style='background:#fff'><b style='color:#fff;mix-blend-mode:difference'>TARGET</b>",
    "<p style='mso-hide:all'>TARGET",
    "<p style='font-size:1px;zoom:20'>TARGET",
    "<p style='font-size:1px;transform:scale(20);transform-origin:0 0'>TARGET",
    "<table bgcolor=navy><tr><td>" + WHITE + "</table>",
    "<div dir=rtl><p style='text-indent:-9999px'>TARGET</div>",
    "<div style='height:0;overflow-x:clip'>TARGET</div>",
    "<p style='clip:rect(0,0,0,0)'>TARGET",
    "<p style='height:0;overflow:hidden;height:auto'>TARGET",
    "<p style='height:0;overflow:hidden;height:max-content'>TARGET",
    "<p style='height:0;overflow:hidden;display:contents'>TARGET",
    "<div style='visibility:hidden'><p style='visibility:visible'>TARGET</div>",
    "<p style='transform:rotateX(90deg) rotateX(-90deg)'>TARGET",
    "<p style='transform:scale(.02);font-size:900px;transform-origin:0 0'>TARGET",
    "<p style='transform:translateX(-9999px) translateX(9999px)'>TARGET",
    "<div style='background:navy;float:left;width:600px;height:300px;margin-right:-600px'></div>" + WHITE,
    "<div style='background:linear-gradient(navy,navy)'>" + WHITE + "</div>",
    "<div style='border-image:linear-gradient(navy,navy) fill 1'>" + WHITE + "</div>",
    "<style>.x{--c:navy} .y{background:var(--c)}</style><div class='x y'>" + WHITE + "</div>",
    "<style>.x{background:light-dark(navy,navy)}</style><div class=x>" + WHITE + "</div>",
    "<style>.x{background:color-mix(in srgb,navy,navy)}</style><div class=x>" + WHITE + "</div>",
    "<style>.x{&{display:block}} .x{@layer q{display:none}}</style><p class=x>TARGET",
    "<style>.x{all:initial;display:block} p{color:#fff}</style><p class=x>TARGET",
    "<style>.x{color:#fff;all:revert}</style><p class=x>TARGET",
    "<style>.x{display:none;display:-webkit-box}</style><p class=x>TARGET",
    "<style>.x{display:none;display:inline flex}</style><p class=x>TARGET",
    "<style>.x{color:#fff;color:color-mix(in srgb,navy,navy)}</style><p class=x>TARGET",
    "<p style='opacity:0;opacity:calc(.5 + .5)'>TARGET",
    "<p style='font-size:0;font:message-box'>TARGET",
    "<div style='font-size:0'><p style='font-size:max(1rem,12px)'>TARGET</div>",
    "<div style='font-size:0'><p style='font-size:medium'>TARGET</div>",
    "<p style='font-size:0;font:medium serif'>TARGET",
    "<p style='font-size:0;font:small-caps large/1 serif'>TARGET",
    "<p style='font-size:0;all:unset'>TARGET",
    "<p style='opacity:0;all:revert'>TARGET",
    "<p style='visibility:hidden;visibility:initial'>TARGET",
    "<svg viewBox='0 0 9 9' width=300></svg><p style='height:0;overflow:visible'>TARGET",
    "<p style='position:absolute;left:-9999px;left:auto'>TARGET",
    "<p style='position:fixed;inset:0 0 0 0'>TARGET",
    "<div style='position:absolute;left:9999px'><p style='position:relative;left:-9999px'>TARGET</div>",
    "<p style='clip-path:inset(0 -50%)'>TARGET",
    "<p style='clip-path:polygon(0 0,100% 0,100% 100%,0 100%)'>TARGET",
    "<p style='clip-path:path(\"M0 0H900V900H0z\")'>TARGET",
    "<p style='max-width:0'>TARGET",
    "<p style='width:0;min-width:90px;overflow:hidden'>TARGET",
    "<p style='height:0;overflow:hidden;padding:1em'>TARGET",
    "<p style='color:rgb(255 255 255/.0);color:navy'>TARGET",
    "<p style='translate:-9999px;position:relative;left:9999px'>TARGET",
    "<style>@starting-style{.x{opacity:0}}</style><p class=x>TARGET",
    "<style>@media (scripting:none){.x{display:none}}</style><p class=x>TARGET",
    "<style>@media not all{.x{display:none}}</style><p class=x>TARGET",
    "<style>@media (prefers-contrast:more){.x{display:none}}</style><p class=x>TARGET",
    "<style>@property --x{syntax:'*';inherits:true;initial-value:0}.x{opacity:var(--x)}@property --x{syntax:'*';"
    "inherits:true;initial-value:1}</style><p class=x>TARGET",
    "<style>.x{--a:0}.x{--a:1}.x{opacity:var(--a)}</style><p class=x>TARGET",
    "<style>.x:not(.y){display:none}</style><p class='x y'>TARGET",
    "<style>#a:not(#b) .x{display:block}.x.x.x{display:none}</style><div id=a><p class=x>TARGET</div>",
    "<style>:where(#a) .x{display:none}p{display:block}.x{display:block}</style><div id=a><p class=x>TARGET</div>",
    "<style>:is(#a,.x){display:block}.x.x{display:none}</style><p class=x>TARGET",
    "<style>p:nth-child(2 of .z){display:none}</style><p class=x>TARGET",
    "<style>.x[title='}']{display:none}</style><p class=x>TARGET",
    "<style>[hidden]{display:block}</style><p hidden>TARGET",
    "<p style='content-visibility:auto'>TARGET",
    "<p style='filter:opacity(0) ;filter:none'>TARGET",
    "<div style='opacity:0'></div><p style='position:relative;z-index:-1'>TARGET",
    "<details open><summary>x</summary>TARGET</details>",
    "<p style='background:#fff'><b style='background:navy;color:#fff'>TARGET</b>",
    "<div style='padding-left:9999px'><p style='position:relative;left:-9999px'>TARGET</div>",
    "<div style='margin-left:9999px'><p style='margin-left:-9999px'>TARGET</div>",
    "<fieldset style='height:0;overflow:hidden;border:0'><legend>TARGET</legend></fieldset>",
    "<div style='border-top:300px solid #000;margin-bottom:-300px'></div>" + WHITE,
    "<div style='box-shadow:0 200px 0 200px #000;height:9px'></div>" + WHITE,
    "<div style='height:0'><table bgcolor=black width=500 height=300><tr><td>x</table></div>" + WHITE,
    "<hr style='height:0;border:150px solid #000;margin:0 0 -300px'>" + WHITE,
    "<table><colgroup><col style='background:#000'></colgroup><tr><td><p style='color:#fff'>TARGET</p></table>",
    "<table><colgroup><col bgcolor=black></colgroup><tr><td><p style='color:#fff'>TARGET</p></table>",
    "<table><colgroup bgcolor=black></colgroup><tr><td><p style='color:#fff'>TARGET</p></table>",
    "<div style='backdrop-filter:invert(1)'><p style='color:#fff'>TARGET</p></div>",
    "<div style='-webkit-text-fill-color:#fff'><p style='-webkit-text-fill-color:currentcolor'>TARGET</div>",
    "<p style='-webkit-text-fill-color:navy'><b style='color:#fff'>TARGET</b>",
    "<p style='font-size:0;font-size:max(1cqw,1rem)'>TARGET",
    "<p style='font-size:0;font-size:1dvh'>TARGET",
    "<p style='font-size:0;font-size:2svw'>TARGET",
    "<p style='position:absolute;left:-9999px;left:anchor(--a left,10px)'>TARGET",
    "<p style='height:0;overflow:hidden;height:calc-size(auto,size)'>TARGET",
    "<p style='zoom:0'>TARGET",
    "<p style='transform:scale(0.01) scale(100)'>TARGET",
    "<style>.x{display:none}.x:-webkit-any(p){display:block}</style><p class=x>TARGET",
    "<style>.x{display:none}.x:-webkit-any-link{display:block}</style><a href=x class=x>TARGET</a>",
    "<style>@media (max-aspect-ratio:1/9){.x{display:none}}</style><p class=x>TARGET",
    "<style>@media (min-resolution:9dppx){.x{display:none}}</style><p class=x>TARGET",
    "<style>@media (400px>=width){.x{display:none}}</style><p class=x>TARGET",
    "<style>.x{opacity:0;opacity:attr(data-o type(<number>),1)}</style><p class=x>TARGET",
    "<style>.x{opacity:0;opacity:if(else:1)}</style><p class=x>TARGET",
    "<style>.x{opacity:0;opacity:sqrt(1)}</style><p class=x>TARGET",
    "<style>.x{opacity:0;opacity:round(.8,1)}</style><p class=x>TARGET",
    "<style>.x{font-size:0;font-size:round(18.4px,1px)}</style><p class=x>TARGET",
    "<style>.x{color:#fff;color:LinkText}</style><p class=x>TARGET",
    "<style>.x{color:#fff;color:AccentColor}</style><p class=x>TARGET",
    "<style>.x{color:#fff;background-color:Highlight;background-color:ButtonText}</style><p class=x>TARGET",
]

HIDDEN = [
    "<style>P.Note:NOT(.Other){display:none}</style><p class=Note>TARGET",
    "<p hidden>TARGET",
    "<p style='display:none'>TARGET",
    "<style>@layer a{.x{display:none}}</style><p class=x>TARGET",
    "<style>@layer a,b; @layer b{.x{display:none}} @layer a{.x{display:block}}</style><p class=x>TARGET",
    "<style>@layer a{.x{display:none !important}} .x{display:block !important}</style><p class=x>TARGET",
    "<p style='visibility:hidden'>TARGET",
    "<p style='opacity:0'>TARGET",
    "<p style='font-size:0'>TARGET",
    "<p style='color:transparent'>TARGET",
    WHITE,
    "<p style='color:navy;background:navy'>TARGET",
    "<p style='background:currentcolor'>TARGET",
    "<link rel=stylesheet href='http://a.example/site.css'><p style='color:#fff;background:#fff'>TARGET",
    "<p style='position:absolute;left:-9999px'>TARGET",
    "<p style='text-indent:-9999px'>TARGET",
    "<p style='margin-left:-9999px'>TARGET",
    "<p style='position:absolute;width:1px;height:1px;overflow:hidden;clip:rect(0,0,0,0)'>TARGET",
    "<p style='clip-path:inset(50%)'>TARGET",
    "<p style='height:0;overflow:hidden'>TARGET",
    "<p style='transform:scale(0)'>TARGET",
    "<p style='transform:translateX(-9999px)'>TARGET",
    "<p style='filter:opacity(0)'>TARGET",
    "<p style='content-visibility:hidden'>TARGET",
]

DOUBTED = [
    ("<style>@supports (display:grid){.x{display:none}}</style><p class=x>TARGET", "display"),
    ("<style>@keyframes k{to{top:0}}</style><p style='opacity:0;animation:k 0s'>TARGET", "opacity"),
    ("<link rel=stylesheet href='http://a.example/other.css'>" + WHITE, "color"),
    ("<div style='position:absolute;top:300px;background:navy'>x</div>" + WHITE, "color"),
    ("<div style='display:flex'><p style='width:0;overflow:hidden'>TARGET</div>", "size"),
    ("<p style='color:transparent;text-shadow:0 0 0 #fff'>TARGET", "color"),
]


@pytest.fixture(scope="module")
def browser() -> Iterator[Page]:
    with browsing("http://a.example") as page:
        page.set_viewport_size({"width": 800, "height": 450})  # the larger a look, the longer it takes
        page.route("**/*", lambda route: route.fulfill(body=""))
        page.route("**/site.css", lambda route: route.fulfill(body=".dark{background:navy}", content_type="text/css"))
        yield page


def article(html: str) -> str:
    style = "html{font-family:monospace}"
    return f"<!doctype html><head><style>{style}</style></head><main><h1>Title</h1><p>Words</p>{html}</main>"


def shows(browser: Page, html: str) -> bool:
    """Whether the browser shows the word."""
    looks = []
    browser.goto("about:blank")  # what a page said of its colours outlives its content
    for word in (WORD, OTHER):
        browser.set_content(article(html).replace(WORD, word))
        looks.append(browser.screenshot(full_page=True))
    return looks[0] != looks[1]


@pytest.mark.parametrize("html", SHOWN)
def test_a_word_that_a_browser_shows_is_text(html: str) -> None:
    assert WORD in convert(article(html)).markdown


@pytest.mark.rare("looks twice at each of many pages; those that hide something are looked at each time")
@pytest.mark.parametrize("html", SHOWN)
def test_a_browser_shows_that_word(browser: Page, html: str) -> None:
    assert shows(browser, html)


@pytest.mark.slow("starts what it looks at, and a browser")
@pytest.mark.parametrize("html", HIDDEN)
def test_a_word_that_is_hidden_in_a_common_way_is_no_text(browser: Page, html: str) -> None:
    assert not shows(browser, html)
    assert WORD not in convert(article(html)).markdown


@pytest.mark.slow("starts what it looks at, and a browser")
@pytest.mark.parametrize(("html", "way"), DOUBTED)
def test_a_word_that_may_be_hidden_is_text_and_the_author_is_told(browser: Page, html: str, way: str) -> None:
    assert not shows(browser, html)
    converted = convert(article(html))
    assert WORD in converted.markdown
    assert converted.warnings == (f"1 word was kept that readers may not see (by {way})",)
