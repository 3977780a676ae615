import pytest

from kb_pipeline_tests.growth import grows_in_proportion
from kb_pipeline_tests.steps.html.pages import convert, image, markdown

FILES = [
    image("real.png", 400, 200),
    image("big.png", 800, 400),
    image("small.png", 120, 60),
    image("blurred.png", 40, 20),
    image("dark.png", 400, 200),
    image("spacer.gif", 1, 1, "GIF"),
]


def shown(html: str) -> list[str]:
    article = convert(f"<main><p>Open the settings window.</p>{html}<p>Then close it.</p></main>", *FILES)
    assert article.lost_images == ()
    return [reference.file for reference in article.images]


@pytest.mark.parametrize(
    "html",
    [
        "<img src=spacer.gif data-src=real.png>",
        "<img src=blurred.png data-lazy-src=real.png>",
        "<img src=spacer.gif data-original=real.png>",
        "<img src=spacer.gif data-ll-src=real.png>",
        "<img src=spacer.gif data-srcset='small.png 120w, real.png 400w'>",
        "<img data-lazy-srcset='small.png 120w,real.png 400w'>",
        "<img src=spacer.gif srcset='small.png 120w, real.png 400w'>",
        "<img src=small.png srcset='small.png 120w, real.png 400w' sizes=100vw>",
        "<img class=lazy src='data:image/gif;base64,AA'><noscript><img src=real.png alt=Window></noscript>",
        "<noscript><img src=real.png></noscript><img class=lazy src=spacer.gif>",
        "<span><img class=lazy src=spacer.gif></span><noscript><img src=real.png></noscript>",
        "<div class=lazy></div><noscript><img src=real.png></noscript>",
        "<picture><source srcset='dark.png 1x'><img src=spacer.gif data-srcset='real.png 800w'></picture>",
        "<picture><source srcset='real.png 1x'><img src=spacer.gif></picture>",
        "<picture><source data-srcset=real.png><img src=''></picture>",
        "<div style='background-image: url(\"real.png\")' role=img aria-label=Window></div>",
        "<span style='background:#fff url(real.png) no-repeat'></span>",
        "<amp-img src=real.png></amp-img>",
        "<video poster=real.png></video>",
        "<svg><image xlink:href=real.png /></svg>",
        "<embed type=image/png src=real.png>",
        "<div class=lazyload data-bg=real.png></div>",
        "<div data-background-image=real.png role=img></div>",
        "<style>.a, .shot { background: #fff url('real.png') }</style><div class='box shot' role=img></div>",
        "<button aria-label=Zoom><img src=real.png></button>",
        "<img src=real.png loading=lazy style='opacity:0; transition:opacity 1s' onload='this.style.opacity=1'>",
        "<style>.lazy{opacity:0}</style><img class=lazy data-src=real.png src=spacer.gif>",
        "<img data-cfsrc=real.png style='display:none;visibility:hidden'><noscript><img src=real.png></noscript>",
    ],
)
def test_the_picture_that_readers_see_is_shown_wherever_the_page_names_it(html: str) -> None:
    assert shown(html) == ["real.png"]


@pytest.mark.parametrize(
    "html",
    [
        "<img src=real.png srcset='real.png 1x, big.png 2x'>",
        "<img src=real.png data-zoom=big.png>",
        "<picture><source media='(prefers-color-scheme: dark)' srcset=dark.png><img src=real.png></picture>",
        "<img src=real.png data-src=gone.png>",
        "<a href=page.html><img src=real.png></a>",
        "<a href=small.png><img src=real.png></a>",
        "<a href=big.png><img src=real.png> larger</a>",
        "<div style='background:url(dark.png)'><img src=real.png></div>",
        "<img src=real.png><div style='background:url(dark.png)'>words</div>",
        "<img src=real.png><noscript><img src='https://e.org/count.gif'></noscript>",
        "<img src=real.png><img src=dark.png loading=lazy style='display:none'>",
        "<img src=real.png><img src=dark.png style='opacity:0'>",
        "<img src=real.png><button><img src=blurred.png></button>",
        "<div data-bg=dark.png><img src=real.png></div>",
        "<style>.line{background:url(dark.png)}</style><img src=real.png><div class=line></div>",
    ],
)
def test_other_pictures_that_the_page_names_are_not_shown(html: str) -> None:
    assert shown(html) == ["real.png"]


@pytest.mark.parametrize(
    "html",
    [
        "<a href=big.png><img src=small.png alt=Window></a>",
        "<a href='./big.png'><picture><img src=small.png></picture></a>",
        "<figure><a href=big.png><img src=small.png></a><figcaption>Window</figcaption></figure>",
        "<a href='#' data-featherlight=big.png><img src=small.png></a>",
    ],
)
def test_a_link_from_a_small_picture_shows_the_large_one(html: str) -> None:
    assert shown(html) == ["big.png"]


def test_what_the_picture_for_readers_without_scripts_is_called_is_kept() -> None:
    html = "<img class=lazy src=spacer.gif alt=''><noscript><img src=real.png alt='Settings window'></noscript>"
    assert [each.alt for each in convert(html, *FILES).images] == ["Settings window"]


def test_the_time_grows_with_the_styles_only() -> None:
    page = "<style>a{{{0}}}</style><div style='{0}'></div><p>Hello."
    assert grows_in_proportion(lambda count: markdown(page.format("background:" * count)), 3_200)
