"""A website becomes articles: each page once, with its pictures, politely, and nothing is lost, old or private."""

import json
import time
from collections.abc import Callable
from contextlib import closing, suppress
from email.utils import formatdate
from pathlib import Path

import pytest

from kb_pipeline.errors import IntakeError, StorageError, TransientError
from kb_pipeline.intake.declared import add_source, read_sources
from kb_pipeline.intake.naming import name_of_site
from kb_pipeline.intake.running import forget, run, state_path
from kb_pipeline.intake.state import IntakeState
from kb_pipeline.intake.website import answers, client, copy, crawl
from kb_pipeline.settings import Settings
from kb_pipeline_tests.intake.conftest import PROSE, page
from kb_pipeline_tests.intake.website.site import Answer, Site
from kb_pipeline_tests.pictures import screenshot

OTHER = "Close the drain before you fill the tank, or the pump runs dry and has to be bled again."


def text(body: str = "", prose: str = PROSE, head: str = "", title: str = "A page") -> str:
    return f"<html><head><title>{title}</title>{head}</head><body><h1>{title}</h1><p>{prose}</p>{body}</body></html>"


@pytest.fixture
def settings(settings: Settings) -> Settings:
    return settings.model_copy(update={"attempts": 2})


@pytest.fixture(autouse=True)
def _no_long_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client, "_LONGEST_PAUSE", 0.01)


@pytest.fixture
def small(site: Site) -> Site:
    """A start with two pages below and a picture that both show."""
    links = '<a href="one/">One</a> <a href="two.html#part">Two</a> <img src="img/a.png">'
    site.put("/", text(links, title="Start"))
    site.put("/one/", text('<img src="../img/a.png"><a href="/two.html">Two</a>', OTHER, title="One"))
    site.put("/two.html", text('<a href="https://elsewhere.example/x">x</a>', f"{OTHER} {PROSE}", title="Two"))
    site.put("/img/a.png", screenshot())
    return site


def ids(staging: Path) -> list[str]:
    return sorted(path.name for path in staging.iterdir())


def html(staging: Path, article_id: str = "site") -> str:
    return (staging / article_id / "index.html").read_text()


def test_pages_become_articles_with_pictures_links_and_addresses(
    small: Site, settings: Settings, staging: Path
) -> None:
    taken = run(small.source(settings), settings)
    assert (sorted(taken.new), taken.refused) == (["site", "site-one", "site-two"], {})
    start = html(staging)
    assert 'href="../site-one/index.html"' in start
    assert 'href="../site-two/index.html#part"' in start
    assert 'src="a.png"' in start
    assert (staging / "site-one" / "a.png").read_bytes() == small.pages["/img/a.png"].body
    assert 'href="https://elsewhere.example/x"' in html(staging, "site-two")
    assert json.loads((staging / "site-two" / "metadata.json").read_text())["source_url"] == f"{small.url}two.html"


def test_a_run_without_changes_costs_one_short_answer_for_each_address(small: Site, settings: Settings) -> None:
    run(small.source(settings), settings)
    small.counts()
    again = run(small.source(settings), settings)
    assert (again.unchanged, again.new, again.changed, again.bytes) == (3, [], [], 0)
    assert small.counts() == {304: 4, 200: 1}  # and the start, to see whether the site is there


def test_a_version_of_this_second_is_asked_for_as_a_whole_as_another_may_follow(
    small: Site, settings: Settings, staging: Path
) -> None:
    now, before = formatdate(usegmt=True), formatdate(time.time() - 60, usegmt=True)
    small.put("/one/", text(prose=OTHER), etag='"same"', last_modified=now)
    small.put("/two.html", text(prose=f"{OTHER} {PROSE}"), etag='"same"', last_modified=before)
    run(small.source(settings), settings)
    small.asked.clear()
    small.put("/one/", text(prose=f"{OTHER} Again."), etag='"same"', last_modified=now)
    assert run(small.source(settings), settings).changed == ["site-one"]
    assert dict(small.asked)["/two.html"] == 304


@pytest.mark.parametrize(
    "anew",
    [
        "<!-- made at {} -->", "<script>session = '{}'</script>", '<script nonce="{}">x</script>',
        '<form><input type="hidden" name="t" value="{}"></form>', "<input value='{}' type=hidden>",
        '<meta name="csrf-token" content="{}">',
    ],
)  # fmt: skip
def test_what_a_server_writes_anew_into_each_answer_changes_nothing(anew: str, small: Site, settings: Settings) -> None:
    small.put("/one/", text(anew.format("a1"), OTHER))
    run(small.source(settings), settings)
    small.put("/one/", text(anew.format("b2"), OTHER))
    assert run(small.source(settings), settings).changed == []


@pytest.mark.parametrize(
    "change",
    ['<script type="math/tex">x^{}</script>', "<h{0}>Part</h{0}>", "<style>.x{{top:{}px}}</style>"],
)
def test_what_readers_may_see_changes_the_article(change: str, small: Site, settings: Settings) -> None:
    small.put("/one/", text(change.format(2), OTHER))
    run(small.source(settings), settings)
    small.put("/one/", text(change.format(3), OTHER))
    assert run(small.source(settings), settings).changed == ["site-one"]


@pytest.mark.parametrize("has_tokens", [True, False])
def test_other_tokens_with_the_same_content_change_nothing(
    small: Site, settings: Settings, staging: Path, has_tokens: bool
) -> None:
    small.has_tokens = has_tokens
    run(small.source(settings), settings)
    before = {path: path.stat().st_mtime_ns for path in staging.rglob("*")}
    small.salt = "other"
    taken = run(small.source(settings), settings)
    assert (taken.unchanged, taken.changed, taken.bytes) == (3, [], 0)
    assert {path: path.stat().st_mtime_ns for path in staging.rglob("*")} == before


def test_a_picture_that_changes_or_comes_changes_the_articles_that_show_it(
    small: Site, settings: Settings, staging: Path
) -> None:
    small.put("/two.html", text('<img src="late.png">', f"{OTHER} {PROSE}", title="Two"))
    run(small.source(settings), settings)
    small.put("/img/a.png", screenshot("other"))
    small.put("/late.png", screenshot("late"))
    assert sorted(run(small.source(settings), settings).changed) == ["site", "site-one", "site-two"]
    assert (staging / "site-two" / "late.png").exists()


def test_a_picture_behind_a_redirect_is_there(small: Site, settings: Settings, staging: Path) -> None:
    small.pages["/real.png"] = small.pages["/img/a.png"]
    small.redirect("/img/a.png", "/real.png?v=3", 302)
    small.pages["/real.png?v=3"] = small.pages["/real.png"]
    run(small.source(settings), settings)
    assert (staging / "site-one" / "a.png").read_bytes() == small.pages["/real.png"].body


def test_a_page_that_comes_later_is_led_to(small: Site, settings: Settings, staging: Path) -> None:
    small.put("/one/", text('<a href="/three.html">Three</a>', OTHER, title="One"))
    run(small.source(settings), settings)
    assert f'href="{small.url}three.html"' in html(staging, "site-one")
    small.put("/three.html", text(prose=f"{PROSE} {PROSE}", title="Three"))
    taken = run(small.source(settings), settings)
    assert (taken.new, taken.changed) == (["site-three"], ["site-one"])
    assert 'href="../site-three/index.html"' in html(staging, "site-one")


# --- one article for each page -------------------------------------------------------------------

CANONICAL = '<link rel="canonical" href="/page.html">'
PAGE = text(head=CANONICAL, title="Page")
SAME: list[Callable[[Site], None]] = [
    lambda site: site.put("/page.html?utm_source=mail", PAGE),
    lambda site: site.put("/page.html/", PAGE),
    lambda site: site.redirect("/old.html", "page.html"),
    lambda site: site.redirect("/old.html", "/page.html?session=1#top", 302),
    lambda site: site.put("/print/page.html", text("<nav>Print</nav>", head=CANONICAL, title="Page")),
    lambda site: site.put("/page.html?view=1", text("<nav>View 1</nav>", head=CANONICAL, title="Page")),
    lambda site: site.put("/page.html?sid=1", text('<input value="1"><footer>11:02</footer>', title="Page")),
    lambda site: site.put("/page.html/", text(head='<meta name="csrf" content="2">', title="Page")),
    lambda site: site.put("/refresh.html", '<meta http-equiv="refresh" content="0; url=/page.html">'),
    lambda site: site.put("/PAGE.html", text(head=CANONICAL, title="Page", body="<footer>other</footer>")),
]


@pytest.mark.parametrize("add", SAME)
def test_a_page_with_several_addresses_is_one_article(
    add: Callable[[Site], None], site: Site, settings: Settings, staging: Path
) -> None:
    site.put("/page.html", PAGE)
    site.put("/page.html?session=1", PAGE)
    add(site)
    links = "".join(f'<a href="{path}">x</a>' for path in site.pages)
    site.put("/", text(links, OTHER, title="Start"))
    assert sorted(run(site.source(settings), settings).new) == ["site", "site-page"]
    assert html(staging).count('href="../site-page/index.html"') == len(site.pages) - 1


def test_a_canonical_address_that_is_no_article_is_not_believed(small: Site, settings: Settings) -> None:
    head = '<link rel="canonical" href="/one/">'
    small.put("/two.html", text(prose=OTHER, head=head, title="One"))
    assert run(small.source(settings, include=("two*",)), settings).new == ["site-two"]
    small.put("/one/", text(prose=OTHER, head='<meta name="robots" content="noindex">', title="One"))
    assert "other-two" in run(small.source(settings, "other"), settings).new


def test_pages_that_differ_only_behind_the_question_mark_but_show_something_else_are_two(
    small: Site, settings: Settings
) -> None:
    for number in (1, 2):
        small.put(f"/list?page={number}", text(prose=f"{OTHER} This is list {number}."))
        small.put(f"/gallery?show={number}", text(f'<img src="/{number}.png">', OTHER))
    paths = [path for path in small.pages if "?" in path]
    small.put("/one/", text("".join(f'<a href="{path}">x</a>' for path in paths), OTHER))
    assert len(run(small.source(settings), settings).new) == 7


@pytest.mark.parametrize("canonical", ["/", "/nowhere.html", "https://www.example.org/page.html", "/two.html"])
def test_a_canonical_address_that_is_another_page_is_not_believed(
    canonical: str, small: Site, settings: Settings
) -> None:
    head = f'<link rel="canonical" href="{canonical}">'
    for number in range(3):
        words = " ".join(f"word{number}x{each}" for each in range(20))
        small.put(f"/n{number}.html", text(prose=words, head=head, title=f"N {number}"))
    small.put("/one/", text("".join(f'<a href="/n{number}.html">n</a>' for number in range(3)), OTHER))
    assert len(run(small.source(settings), settings).new) == 6


def test_the_address_of_an_article_stays_when_a_shorter_one_comes(small: Site, settings: Settings) -> None:
    run(small.source(settings), settings)
    small.put("/1", small.pages["/one/"].body)
    small.put("/two.html", text('<a href="/1">One</a>', f"{OTHER} {PROSE}", title="Two"))
    taken = run(small.source(settings), settings)
    assert (taken.new, taken.gone, taken.unchanged) == ([], [], 2)


def test_a_page_that_moved_has_one_article_and_links_follow(small: Site, settings: Settings, staging: Path) -> None:
    run(small.source(settings), settings)
    small.pages["/moved.html"] = small.pages.pop("/two.html")
    small.redirect("/two.html", "/moved.html")
    taken = run(small.source(settings), settings)
    assert (taken.new, taken.gone) == (["site-moved"], ["site-two"])
    assert 'href="../site-moved/index.html#part"' in html(staging)


def test_a_link_to_an_address_that_is_not_included_leads_to_the_article_that_it_leads_to(
    small: Site, settings: Settings, staging: Path
) -> None:
    small.redirect("/go/1", "/two.html")
    small.put("/one/", text('<a href="/go/1">Two</a>', OTHER, title="One"))
    run(small.source(settings, include=("one/*", "two*")), settings)
    assert 'href="../site-two/index.html"' in html(staging, "site-one")


def test_redirects_in_a_circle_end(small: Site, settings: Settings) -> None:
    small.redirect("/two.html", "/three.html")
    small.redirect("/three.html", "/two.html")
    assert run(small.source(settings), settings).refused == {}


# --- politeness ----------------------------------------------------------------------------------


def test_robots_are_obeyed(small: Site, settings: Settings, staging: Path) -> None:
    small.put("/robots.txt", "User-agent: *\nDisallow: /one/\nDisallow: /img/", "text/plain")
    assert sorted(run(small.source(settings), settings).new) == ["site", "site-two"]
    assert not [path for path, _ in small.asked if path.startswith(("/one", "/img"))]
    assert f'href="{small.url}one/"' in html(staging)


def test_rules_for_this_program_go_before_those_for_all(small: Site, settings: Settings) -> None:
    small.put("/robots.txt", "User-agent: *\nDisallow: /\nUser-agent: kb-pipeline\nDisallow: /one/", "text/plain")
    assert len(run(small.source(settings), settings).new) == 2


@pytest.mark.parametrize("answer", [Answer(500), Answer(503), Answer(200, b"Disallow", {}, 5000)])
def test_rules_that_cannot_be_read_allow_nothing(answer: Answer, small: Site, settings: Settings) -> None:
    run(small.source(settings), settings)
    small.answers["/robots.txt"] = lambda: answer
    small.asked.clear()
    with pytest.raises(TransientError, match=r"robots\.txt"):
        run(small.source(settings), settings)
    assert {path for path, _ in small.asked} == {"/robots.txt"}


@pytest.mark.parametrize("status", [404, 403, 401, 410])
def test_without_rules_all_is_allowed(status: int, small: Site, settings: Settings) -> None:
    small.answers["/robots.txt"] = lambda: Answer(status)
    assert len(run(small.source(settings), settings).new) == 3


def test_a_pause_that_is_asked_for_is_kept(small: Site, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    pauses: list[float] = []

    async def sleep(seconds: float) -> None:
        pauses.append(seconds)

    monkeypatch.setattr(client, "_LONGEST_PAUSE", 120.0)
    monkeypatch.setattr(client.asyncio, "sleep", sleep)
    small.put("/robots.txt", "User-agent: *\nCrawl-delay: 7", "text/plain")
    run(small.source(settings), settings)
    assert max(pauses) > 6


def test_a_page_that_does_not_want_to_be_found_is_no_article_but_leads_on(
    small: Site, settings: Settings, staging: Path
) -> None:
    small.put("/one/", text('<a href="/three.html">3</a>', head='<meta name="robots" content="noindex">'))
    small.put("/three.html", text(prose=OTHER))
    small.put("/two.html", text(prose=f"{OTHER} {PROSE}"), x_robots_tag="noindex")
    assert sorted(run(small.source(settings), settings).new) == ["site", "site-three"]
    assert f'href="{small.url}one/"' in html(staging)


def test_what_is_excluded_is_not_asked_for_and_what_is_not_included_only_leads_on(
    small: Site, settings: Settings
) -> None:
    taken = run(small.source(settings, exclude=("one/*",), include=("two*",)), settings)
    assert taken.new == ["site-two"]
    assert "/one/" not in {path for path, _ in small.asked}


def test_a_site_with_more_pages_than_are_allowed_is_not_taken_in(small: Site, settings: Settings) -> None:
    with pytest.raises(IntakeError, match="has more than 2 pages"):
        run(small.source(settings, most_pages=2), settings)


# --- sitemaps ------------------------------------------------------------------------------------


def sitemap(*addresses: str) -> str:
    return f"<urlset>{''.join(f'<url><loc>{each}</loc></url>' for each in addresses)}</urlset>"


@pytest.mark.parametrize("place", ["/sitemap.xml", "/maps/all.xml"])
def test_pages_that_only_a_sitemap_names_are_found(place: str, small: Site, settings: Settings) -> None:
    small.put(place, f"<sitemapindex><sitemap><loc>{small.url}part.xml</loc></sitemap></sitemapindex>")
    small.put("/part.xml", sitemap(f"{small.url}lone.html", "https://elsewhere.example/x"))
    small.put("/lone.html", text(prose=f"{OTHER} {OTHER}"))
    if place != "/sitemap.xml":
        small.put("/robots.txt", f"Sitemap: {small.url}{place[1:]}", "text/plain")
    assert "site-lone" in run(small.source(settings), settings).new


@pytest.mark.parametrize(
    "answer", [Answer(500), Answer(200, sitemap("x").encode()[:-9]), Answer(200, sitemap("x").encode(), {}, 5000)]
)
def test_a_sitemap_that_cannot_be_read_to_its_end_changes_nothing(
    answer: Answer, small: Site, settings: Settings, staging: Path
) -> None:
    small.put("/sitemap.xml", sitemap(f"{small.url}lone.html"))
    small.put("/lone.html", text(prose=f"{OTHER} {OTHER}"))
    run(small.source(settings), settings)
    small.answers["/sitemap.xml"] = lambda: answer
    with pytest.raises((IntakeError, TransientError), match=r"sitemap\.xml"):
        run(small.source(settings), settings)
    assert "site-lone" in ids(staging)
    assert run(small.source(settings, sitemaps=()), settings).gone == ["site-lone"]


def test_a_declared_sitemap_that_is_none_is_told(small: Site, settings: Settings) -> None:
    with pytest.raises(IntakeError, match="is no sitemap"):
        run(small.source(settings, sitemaps=(f"{small.url}two.html",)), settings)


# --- failures ------------------------------------------------------------------------------------

BROKEN = {
    "500": Answer(500), "503": Answer(503, b"", {"retry-after": "0"}), "429": Answer(429, b"", {"retry-after": "0"}),
    "another type": Answer(200, b"{}", {"content-type": "application/json"}),
    "half a page": Answer(200, text(prose=OTHER).encode()[:60], {"content-type": "text/html"}, 5000),
    "418": Answer(418), "403": Answer(403), "401": Answer(401),
    "another format": Answer(200, b"%PDF-1.7 x", {"content-type": "text/html"}),
    "another packing": Answer(200, b"x", {"content-type": "text/html", "content-encoding": "br"}),
    "to sign in elsewhere": Answer(302, b"", {"location": "https://login.example/?next=x"}),
    "to a private address": Answer(302, b"", {"location": "http://169.254.169.254/latest/meta-data/"}),
    "to sign in here": Answer(302, b"", {"location": "/login?next=/one/"}),
    "nowhere": Answer(302), "itself": Answer(302, b"", {"location": ""}),
    "empty": Answer(200, b" ", {"content-type": "text/html"}),
    "in a circle": Answer(302, b"", {"location": "/circle"}),
}  # fmt: skip


@pytest.mark.parametrize("broken", BROKEN)
def test_a_page_that_fails_keeps_its_article_and_what_it_leads_to_and_is_named(
    broken: str, small: Site, settings: Settings, staging: Path
) -> None:
    small.put("/one/", text('<a href="/deep.html">deep</a>', OTHER, title="One"))
    small.put("/deep.html", text(prose=f"{OTHER} {OTHER}"))
    small.put("/login?next=/one/", page('<form><input type="password"></form>'))
    small.redirect("/circle", "/one/")
    run(small.source(settings), settings)
    before = html(staging, "site-one")
    small.answers["/one/"] = lambda: BROKEN[broken]
    for _ in range(2):
        taken = run(small.source(settings), settings)
        assert (list(taken.refused), taken.gone) == (["one/."], [])
        assert f"{small.url}one/" in taken.refused["one/."]
    assert html(staging, "site-one") == before
    assert 'href="../site-one/index.html"' in html(staging)
    del small.answers["/one/"]
    small.put("/one/", text('<a href="/deep.html">deep</a>', f"{PROSE} Changed.", title="One"))
    taken = run(small.source(settings), settings)
    assert "site-one" in taken.changed
    assert taken.refused == {}


@pytest.mark.parametrize("broken", BROKEN)
def test_a_page_that_never_was_an_article_is_named_unless_it_is_not_for_everybody(
    broken: str, small: Site, settings: Settings
) -> None:
    small.put("/login?next=/one/", page('<form><input type="password"></form>'))
    small.redirect("/circle", "/one/")
    small.answers["/one/"] = lambda: BROKEN[broken]
    taken = run(small.source(settings), settings)
    is_private = broken in ("401", "403", "in a circle", "another type") or broken.startswith("to ")
    assert list(taken.refused) == ([] if is_private else ["one/."])
    assert sorted(taken.new) == ["site", "site-two"]


@pytest.mark.parametrize("status", [404, 410])
def test_a_page_that_is_not_there_is_gone(status: int, small: Site, settings: Settings) -> None:
    run(small.source(settings), settings)
    small.answers["/one/"] = lambda: Answer(status)
    assert run(small.source(settings), settings).gone == ["site-one"]


def test_only_the_readers_of_a_source_read_its_articles_also_of_pages_that_fail_now(
    small: Site, settings: Settings, staging: Path
) -> None:
    run(small.source(settings), settings)
    small.answers["/one/"] = lambda: Answer(500)
    run(small.source(settings, readers=("ops",)), settings)
    for article_id in ids(staging):
        metadata = json.loads((staging / article_id / "metadata.json").read_text())
        assert metadata["access_control_list"] == ["ops"], article_id


def test_what_fails_is_in_trouble_until_it_is_well_or_gone(small: Site, settings: Settings) -> None:
    def in_trouble() -> list[str]:
        with closing(IntakeState(state_path(settings, "site"))) as state:
            return [row.item.id for row in state.in_trouble()]

    run(small.source(settings), settings)
    small.answers = {"/one/": lambda: Answer(500), "/two.html": lambda: Answer(500)}
    run(small.source(settings), settings)
    assert in_trouble() == ["one/.", "two.html"]
    small.answers = {"/two.html": lambda: Answer(404)}
    run(small.source(settings), settings)
    assert in_trouble() == []


@pytest.mark.parametrize("says", ["Nothing is here, but you may search for what you want to read.", "Page not found"])
def test_a_page_that_is_not_there_is_gone_also_where_the_site_does_not_say_so_by_its_status(
    says: str, small: Site, settings: Settings, staging: Path
) -> None:
    small.not_here = Answer(200, text(prose=says).encode(), {"content-type": "text/html"})
    small.put("/two.html", text('<a href="/broken.html">x</a>', f"{OTHER} {PROSE}", title="Two"))
    assert sorted(run(small.source(settings), settings).new) == ["site", "site-one", "site-two"]
    del small.pages["/one/"]
    assert run(small.source(settings), settings).gone == ["site-one"]


def test_what_a_site_shows_for_every_address_is_not_taken_for_nothing(site: Site, settings: Settings) -> None:
    site.put("/", text(prose=OTHER))
    site.not_here = site.pages["/"]
    assert run(site.source(settings), settings).new == ["site"]


def test_a_picture_that_fails_stays_as_it_was(small: Site, settings: Settings, staging: Path) -> None:
    run(small.source(settings), settings)
    small.answers["/img/a.png"] = lambda: Answer(500)
    assert run(small.source(settings), settings).changed == []
    assert (staging / "site-one" / "a.png").exists()


def test_an_answer_that_is_busy_once_is_asked_for_again(small: Site, settings: Settings) -> None:
    answers = iter([Answer(429, b"", {"retry-after": "0"})])
    small.answers["/one/"] = lambda: next(answers, small.pages["/one/"])
    taken = run(small.source(settings), settings)
    assert (taken.refused, len(taken.new)) == ({}, 3)


def many(site: Site, count: int) -> Site:
    for number in range(count):
        site.put(f"/p/{number:03}", text(prose=f"{PROSE} Number {number} of all."))
    site.put("/", text("".join(f'<a href="/p/{number:03}">{number}</a>' for number in range(count)), title="Start"))
    return site


def test_a_site_that_is_down_changes_nothing(site: Site, settings: Settings, staging: Path) -> None:
    run(many(site, 40).source(settings), settings)
    site.answers = {path: lambda: Answer(500) for path in site.pages if path != "/"}
    with pytest.raises(TransientError, match=r"2. pages failed one after another"):
        run(site.source(settings), settings)
    assert len(ids(staging)) == 41
    site.answers = {"/": lambda: Answer(500)}
    with pytest.raises(TransientError):
        run(site.source(settings), settings)
    site.answers = {}
    assert run(site.source(settings), settings).unchanged == 41


def test_a_site_that_wants_to_be_left_alone_is_and_a_later_run_goes_on(
    site: Site, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawl, "_AT_A_TIME", 10)
    many(site, 40)
    left = iter(range(20))
    for path in [path for path in site.pages if path != "/"]:
        site.answers[path] = lambda path=path: (
            Answer(429, b"", {"retry-after": "3600"}) if next(left, None) is None else site.pages[path]
        )
    with pytest.raises(TransientError, match=r"status 429, and asks to wait 3,600 s"):
        run(site.source(settings), settings)
    assert site.counts()[429] <= crawl.AT_ONCE
    site.answers = {}
    assert len(run(site.source(settings), settings).new) == 41


def test_pictures_that_all_fail_hold_nothing_up(site: Site, settings: Settings) -> None:
    for number in range(30):
        site.answers[f"/{number}.png"] = lambda: Answer(500)
    site.put("/", text("".join(f'<img src="{number}.png">' for number in range(30))))
    assert run(site.source(settings), settings).new == ["site"]


def test_a_defect_that_one_page_brings_to_light_concerns_only_this_page(
    small: Site, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    read = answers.read_page

    def failing(address: str, *rest: str) -> object:
        return read(address, *rest) if "one" not in address else 1 / 0

    monkeypatch.setattr(answers, "read_page", failing)
    taken = run(small.source(settings), settings)
    assert (sorted(taken.new), list(taken.refused)) == (["site", "site-two"], ["one/."])


def test_a_disk_that_is_full_ends_the_run(small: Site, settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(*_: object) -> None:
        raise StorageError("its disk is full")

    monkeypatch.setattr(copy, "write_bytes", full)
    with pytest.raises(StorageError):
        run(small.source(settings), settings)


def test_half_of_the_pages_lost_at_once_are_held(site: Site, settings: Settings, staging: Path) -> None:
    run(many(site, 40).source(settings), settings)
    for number in range(20):
        del site.pages[f"/p/{number:03}"]
    taken = run(site.source(settings), settings)
    assert taken.gone == []
    assert "20 of 41 articles are missing" in taken.guard
    assert len(ids(staging)) == 41
    many(site, 40)
    taken = run(site.source(settings), settings)
    assert (taken.guard, taken.gone, taken.new, taken.changed, taken.unchanged) == ("", [], [], ["site"], 40)


# --- what may be asked ---------------------------------------------------------------------------


def test_an_address_inside_of_a_network_is_refused_unless_that_is_declared(small: Site, settings: Settings) -> None:
    with pytest.raises(IntakeError, match=r"not of the public web.*allow_private"):
        small.source(settings, allow_private=False)
    assert small.asked == []


@pytest.mark.parametrize("host", ["169.254.169.254", "168.63.129.16", "100.100.100.200", "[fd00:ec2::254]", "0.0.0.0"])
def test_the_platform_is_refused_also_where_private_addresses_are_declared(
    host: str, site: Site, settings: Settings
) -> None:
    site.url = f"http://{host}/"
    with pytest.raises(IntakeError, match="not of the public web"):
        site.source(settings)


def test_pictures_of_private_addresses_are_not_fetched_but_from_the_site_itself(
    small: Site, settings: Settings
) -> None:
    inner = Site()
    try:
        inner.put("/a.png", screenshot())
        small.put("/one/", text(f'<img src="{inner.url}a.png">', OTHER, title="One"))
        run(small.source(settings), settings)
        assert inner.asked == []
        with pytest.raises(IntakeError, match="not of the public web"):
            run(small.source(settings, pictures_from=(inner.url,)), settings)
        assert inner.asked == []
    finally:
        inner.close()


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (Answer(301, b"", {"location": "https://www.example.org/"}), "leads to https://www.example.org/; declare"),
        (Answer(401), "sign-in"),
        (Answer(403), "sign-in"),
        (Answer(404), "status 404"),
        (Answer(500), "status 500"),
    ],
)
def test_a_start_that_cannot_be_taken_in_is_not_declared(
    answer: Answer, reason: str, site: Site, settings: Settings, tmp_path: Path
) -> None:
    site.answers["/"] = lambda: answer
    declared = settings.model_copy(update={"intake": str(tmp_path / "intake.yaml")})
    with pytest.raises((IntakeError, TransientError), match=reason):
        add_source(declared, "site", {"kind": "website", "url": site.url, "allow_private": True})
    assert read_sources(declared) == {}


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("url: ftp://example.org/", "not a web address"),
        ("url: https://me:secret@example.org/", "not a web address"),
        ("url: https://example.org/\n  rate: 0", "greater than 0"),
        ("url: https://example.org/\n  sitemaps: [x]", "not a web address"),
        ("url: https://example.org/\n  depth: 3", "not permitted"),
    ],
)
def test_a_declaration_that_cannot_be_meant_is_refused(
    line: str, reason: str, settings: Settings, tmp_path: Path
) -> None:
    (tmp_path / "intake.yaml").write_text(f"docs:\n  kind: website\n  {line}\n")
    with pytest.raises(IntakeError, match=reason) as told:
        read_sources(settings.model_copy(update={"intake": str(tmp_path / "intake.yaml")}))
    assert "secret" not in str(told.value)


def test_a_source_is_named_after_its_address() -> None:
    names = {
        "https://www.mkdocs.org/": "mkdocs-org",
        "https://docs.example.org/en/latest/guide/": "docs-example-org-guide",
        "docs.example.org/a/index.html": "docs-example-org-a",
        "http://127.0.0.1:8000/": "127-0-0-1",
    }
    assert {url: name_of_site(url) for url in names} == names


# --- what pages are ------------------------------------------------------------------------------


def test_the_charset_that_the_server_says_is_the_one(site: Site, settings: Settings, staging: Path) -> None:
    site.put("/", text(prose=f"{PROSE} żółw").encode("iso-8859-2"), "text/html; charset=iso-8859-2")
    run(site.source(settings), settings)
    assert "żółw" in html(staging)


def test_documents_that_pages_lead_to_are_articles_if_that_is_told(
    site: Site, settings: Settings, staging: Path
) -> None:
    site.put(
        "/guide/",
        text(
            '<a href="/files/a%20manual.pdf#page=2">m</a><a href="get?id=3">g</a>'
            '<a href="x.zip">z</a><a href="hidden.pdf">h</a>'
        ),
    )
    site.put("/files/a%20manual.pdf", b"%PDF-1.7 x", "application/octet-stream")
    site.put("/guide/get?id=3", b"%PDF-1.7 y", "application/pdf")
    site.put("/guide/hidden.pdf", b"%PDF-1.7 z", x_robots_tag="noindex")
    assert run(site.source(settings, start="guide/"), settings).new == ["site"]
    assert [path for path, _ in site.asked if "manual" in path or "zip" in path] == []
    taken = run(site.source(settings, start="guide/", documents=True), settings)
    assert sorted(taken.new) == ["site-files-a-manual", "site-get-id-3"]
    assert (staging / "site-files-a-manual" / "a manual.pdf").read_bytes() == b"%PDF-1.7 x"
    assert 'href="../site-files-a-manual/a%20manual.pdf#page=2"' in html(staging)


def test_a_link_to_a_page_that_is_left_out_leads_to_the_site(small: Site, settings: Settings, staging: Path) -> None:
    links = "".join(f'<li><a href="/two.html?{number}">An entry of the list</a></li>' for number in range(9))
    small.put("/one/", f"<html><body><ul>{links}</ul></body></html>")
    taken = run(small.source(settings), settings)
    assert taken.left_out == 1
    assert f'href="{small.url}one/"' in html(staging)


# --- kills ---------------------------------------------------------------------------------------


class Killed(BaseException):
    """The process ends here."""


@pytest.mark.slow("a run for each moment")
@pytest.mark.parametrize(
    "moment",
    [pytest.param(each, marks=[pytest.mark.rare("a moment between")] if each % 2 else []) for each in range(24)],
)
def test_a_run_that_is_killed_at_any_moment_is_completed_by_the_next_one(
    moment: int, site: Site, settings: Settings, staging: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawl, "_AT_A_TIME", 3)
    run(many(site, 8).source(settings), settings)
    del site.pages["/p/000"]
    site.put("/p/001", text(prose=OTHER))
    site.put("/p/007", text('<a href="/new">new</a>', prose=f"{OTHER} Again."))
    site.put("/new", text(prose=f"{OTHER} New."))
    left = iter(range(moment))

    def or_killed(function: Callable[..., object]) -> Callable[..., object]:
        def call(*args: object, **kwargs: object) -> object:
            if next(left, None) is None:
                raise Killed
            return function(*args, **kwargs)

        return call

    with monkeypatch.context() as patched:
        for owner, name in (
            (copy, "write_bytes"), (crawl, "settle"), (copy.SiteCopy, "store"), (copy.SiteCopy, "end"),
            (copy.SiteCopy, "set_items"), (Path, "rename"), (client, "get"),
        ):  # fmt: skip
            patched.setattr(owner, name, or_killed(getattr(owner, name)))
        with suppress(Killed):
            run(site.source(settings), settings)
    run(site.source(settings), settings)
    wanted = ["site", "site-new", *(f"site-p-{number:03}" for number in range(1, 8))]
    assert ids(staging) == wanted
    assert OTHER in html(staging, "site-p-001")
    again = run(site.source(settings), settings)
    assert (again.new, again.changed, again.gone, again.unchanged) == ([], [], [], 9)


def test_a_killed_crawl_does_not_ask_again_for_what_it_has(
    site: Site, settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(crawl, "_AT_A_TIME", 5)
    many(site, 40)

    with monkeypatch.context() as patched:
        settled = iter(range(4))

        def settle(paths: object) -> None:
            if next(settled, None) is None:
                raise Killed

        patched.setattr(crawl, "settle", settle)
        with pytest.raises(Killed):
            run(site.source(settings), settings)
    had = len({path for path, status in site.asked if path.startswith("/p/") and status == 200})
    site.counts()
    run(site.source(settings), settings)
    assert site.counts()[200] <= 42 - had + 5 + 1


def test_a_lost_copy_is_made_anew_and_a_forgotten_source_leaves_nothing(
    small: Site, settings: Settings, staging: Path
) -> None:
    run(small.source(settings), settings)
    folder = settings.home_path / "intake" / "site.site"
    for path in folder.glob("??/*"):
        path.unlink()
    assert run(small.source(settings), settings).unchanged == 3
    assert sorted(forget("site", settings)) == ["site", "site-one", "site-two"]
    assert not folder.exists()
