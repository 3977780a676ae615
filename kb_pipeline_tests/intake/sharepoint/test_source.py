"""A SharePoint site is taken in: libraries and pages. A proxy holds both sides to the description of Graph."""

from pathlib import Path

import pytest

from kb_pipeline.errors import IntakeError, ServiceRefusedError, TransientError
from kb_pipeline.intake.sharepoint.source import SharePointOptions
from kb_pipeline.records import HIDDEN
from kb_pipeline.settings import Settings
from kb_pipeline_tests.graph_service import TEAM, SharePoint
from kb_pipeline_tests.intake.conftest import PROSE, page
from kb_pipeline_tests.intake.faulty_proxy import FAULTS, Answer, proxy_of
from kb_pipeline_tests.intake.sharepoint.conftest import ReadersOf, TakeIn, facts_of, page_of
from kb_pipeline_tests.prism import SPECS, prism_proxy

TEXT = {"@odata.type": "#microsoft.graph.textWebPart", "id": "1", "innerHtml": f"<p>{PROSE}</p>"}
PDF = b"%PDF-1.4"


def text(written: str) -> dict[str, object]:
    return {**TEXT, "innerHtml": f"<p>{PROSE}</p>{written}"}


def picture(source: str) -> dict[str, object]:
    content = {"imageSources": [{"key": "imageSource", "value": source}]}
    data = {"properties": {"altText": "The panel"}, "serverProcessedContent": content}
    return {"@odata.type": "#microsoft.graph.standardWebPart", "id": "2", "data": data}


@pytest.mark.slow("starts a proxy")
def test_what_is_asked_and_answered_is_as_microsoft_describes_it(
    site: SharePoint, take_in: TakeIn, readers_of: ReadersOf
) -> None:
    site.put("Manuals/pump.pdf", PDF)
    site.put("Manuals/motor.pdf", PDF)
    site.put("panel.png", b"picture", "assets")
    site.put_page("Start", "Start", TEXT, picture("/sites/handbook/SiteAssets/panel.png"))
    with prism_proxy(SPECS / "graph-1.0.from-sdk-1.65.0.openapi.json", site.url) as url:
        site.shown_as = url
        taken = take_in(url)
        site.remove("docs", "docs-Manuals-pump.pdf")
        again = take_in(url)
        site.pages["Start"]["title"] = 7
        with pytest.raises(
            TransientError, match=r"/graph\.sitePage answered with status 500"
        ):  # so the proxy does look
            take_in(url)
    assert (len(taken.new), taken.refused, taken.hidden) == (3, {}, 0)
    assert again.gone == ["site-manuals-pump"]
    assert readers_of("site-start") == [TEAM]


def test_documents_of_all_formats_that_are_read_become_articles(
    site: SharePoint, take_in: TakeIn, staging: Path
) -> None:
    site.put("Manuals/The pump.PDF", PDF)
    site.put("notes.md", b"# Notes\n\nSee [the pump](Manuals/The%20pump.PDF) ![panel](panel.png)")
    site.put("panel.png", b"picture")
    site.put("old.doc", b"x")
    site.put("program.exe", b"x")
    site.put("notebook", b"", package={"type": "oneNote"})
    taken = take_in()
    assert sorted(taken.new) == ["site-manuals-the-pump", "site-notes"]
    assert list(taken.refused.values()) == ["Documents/old.doc is an old Word document; save it as .docx"]
    assert (staging / "site-manuals-the-pump" / "The pump.pdf").read_bytes() == PDF
    notes = staging / "site-notes"
    assert "[the pump](../site-manuals-the-pump/The%20pump.pdf)" in (notes / "notes.md").read_text()
    assert (notes / "panel.png").read_bytes() == b"picture"
    facts = facts_of(staging, "site-manuals-the-pump")
    assert facts["source_url"] == f"{site.site}/Shared%20Documents/Manuals/The%20pump.PDF"
    assert (facts["author"], facts["upload_date"]) == ("Ann", "2026-01-02T03:04:05Z")


def test_pages_become_articles_with_pictures_and_links(site: SharePoint, take_in: TakeIn, staging: Path) -> None:
    site.put("Manuals/pump.pdf", PDF)
    site.put("SitePages/Start/panel.png", b"picture", "assets")
    site.put_page("Pump", "The pump", TEXT)
    to_page, to_file = "/sites/handbook/SitePages/Pump.aspx#part", f"{site.site}/Shared%20Documents/Manuals/pump.pdf"
    links = f'<a href="{to_page}">pump</a><a href="{to_file}">manual</a><a href="/sites/other">other</a>'
    site.put_page("Start", "Start", text(links), picture("/sites/handbook/SiteAssets/SitePages/Start/panel.png"))
    assert sorted(take_in().new) == ["site-manuals-pump", "site-start", "site-the-pump"]
    shown = page_of(staging, "site-start")
    assert '<a href="../site-the-pump/index.html#part">pump</a>' in shown
    assert '<a href="../site-manuals-pump/pump.pdf">manual</a>' in shown
    assert f'<a href="{site.site.replace("handbook", "other")}">other</a>' in shown
    assert '<img src="panel.png" alt="The panel">' in shown
    assert (staging / "site-start" / "panel.png").read_bytes() == b"picture"
    assert facts_of(staging, "site-start")["source_url"] == f"{site.site}/SitePages/Start.aspx"


def test_only_what_changed_is_asked_and_fetched(site: SharePoint, take_in: TakeIn, staging: Path) -> None:
    for name in ("a", "b", "c"):
        site.put(f"{name}.pdf", PDF)
    site.put("panel.png", b"red", "assets")
    site.put_page("Start", "Start", TEXT, picture("/sites/handbook/SiteAssets/panel.png"))
    take_in()
    site.asked.clear()
    assert take_in().unchanged == 4
    assert sum("delta" in path for path in site.asked) == 3  # one answer for each library
    assert not [path for path in site.asked if "/content" in path]
    site.put("b.pdf", PDF + b"2")
    assert take_in().changed == ["site-b"]
    site.put("panel.png", b"blue", "assets")
    assert take_in().changed == ["site-start"]
    assert (staging / "site-start" / "panel.png").read_bytes() == b"blue"
    site.remove("docs", "docs-a.pdf")
    assert take_in().gone == ["site-a"]


def test_what_is_moved_keeps_its_article(site: SharePoint, take_in: TakeIn, staging: Path) -> None:
    site.put("Old/a.pdf", PDF)
    take_in()
    site.move("docs", "docs-Old", "New")
    taken = take_in()
    assert (taken.new, taken.gone) == ([], [])
    assert "/New/a.pdf" in str(facts_of(staging, "site-old-a")["source_url"])


def test_what_is_in_a_folder_that_is_gone_is_gone(site: SharePoint, take_in: TakeIn) -> None:
    for name in ("a", "b", "c", "d"):
        site.put(f"{name}.pdf", PDF)
    site.put("Old/e.pdf", PDF)
    take_in()
    site.entries["docs"].pop("docs-Old")  # and nothing is said of what was in it
    site.changed.append(("docs", "docs-Old"))
    assert take_in().gone == ["site-old-e"]


def test_a_token_that_is_forgotten_lists_the_library_anew(site: SharePoint, take_in: TakeIn) -> None:
    for name in ("a", "b", "c", "d"):
        site.put(f"{name}.pdf", PDF)
    take_in()
    site.remove("docs", "docs-a.pdf")
    site.changed = [each for each in site.changed if each[1] != "docs-a.pdf"]  # nobody knows of it any more
    site.put("e.pdf", PDF)
    site.forgets_tokens = True
    taken = take_in()
    assert (taken.new, taken.gone, taken.unchanged) == (["site-e"], ["site-a"], 3)
    site.forgets_tokens = False
    assert take_in().unchanged == 4


def test_a_listing_that_was_cut_off_goes_on(site: SharePoint, take_in: TakeIn) -> None:
    for name in ("a", "b", "c", "d"):
        site.put(f"{name}.pdf", PDF)
    with proxy_of(site.url) as proxy:
        site.shown_as = proxy.url
        proxy.fault = lambda number, path: FAULTS["503"] if "skiptoken=4" in path else None
        with pytest.raises(TransientError):
            take_in(proxy.url)
        proxy.fault = lambda number, path: None
        site.asked.clear()
        assert len(take_in(proxy.url).new) == 4
    assert sum("docs/items/root/delta" in path for path in site.asked) == 1


def test_a_change_that_is_not_published_waits(site: SharePoint, take_in: TakeIn, staging: Path) -> None:
    draft = {"level": "draft", "versionId": "1.1"}
    new = {"level": "draft", "versionId": "0.1"}
    site.put("a.pdf", PDF)
    site.put("new.pdf", PDF, publication=new)
    site.put_page("Start", "Start", TEXT)
    site.put_page("New", "New", TEXT, publishingState=new)
    assert sorted(take_in().new) == ["site-a", "site-start"]
    site.put("a.pdf", b"draft", publication=draft)
    site.put_page("Start", "Start", text("<p>draft</p>"), publishingState=draft)
    site.permissions["pages-Start.aspx"] = []
    taken = take_in()
    assert sorted(taken.refused) == ["docs/docs-a.pdf", "pages/id-Start"]
    assert (staging / "site-a" / "a.pdf").read_bytes() == PDF
    assert "draft" not in page_of(staging, "site-start")
    assert facts_of(staging, "site-start")["access_control_list"] == [HIDDEN]


def test_libraries_and_what_is_in_them_can_be_chosen(site: SharePoint, take_in: TakeIn) -> None:
    site.put("Manuals/a.pdf", PDF)
    site.put("Drafts/b.pdf", PDF)
    site.put_page("Start", "Start", TEXT)
    taken = take_in(libraries=["Documents"], exclude=["Documents/Drafts/*"], pages=False)
    assert taken.new == ["site-manuals-a"]
    with pytest.raises(IntakeError, match="no document library Fotos"):
        take_in(libraries=["Fotos"])


def test_a_file_that_is_too_large_is_refused_before_it_is_fetched(site: SharePoint, take_in: TakeIn) -> None:
    site.put("a.pdf", PDF, size=500_000_001)
    assert list(take_in().refused.values()) == ["Documents/a.pdf has 500,000,001 bytes; raise KB_DOCUMENT_BYTES"]
    assert not [path for path in site.asked if "content" in path]


def test_files_that_were_fetched_are_not_kept_twice(site: SharePoint, take_in: TakeIn, settings: Settings) -> None:
    site.put("a.pdf", PDF)
    take_in()
    assert not [path for path in (settings.home_path / "intake").rglob("*") if path.suffix == ".pdf"]


@pytest.mark.parametrize("elsewhere", ["http://169.254.169.254/x", "https://evil-example.org/x", "http://10.0.0.1/x"])
def test_files_are_taken_from_no_host_that_only_an_answer_names(
    site: SharePoint, take_in: TakeIn, elsewhere: str
) -> None:
    site.put("a.pdf", PDF)
    site.elsewhere = elsewhere
    assert "from which nothing is taken" in take_in().refused["docs/docs-a.pdf"]


def test_a_listing_goes_on_nowhere_else(site: SharePoint, take_in: TakeIn) -> None:
    for name in ("a", "b", "c"):
        site.put(f"{name}.pdf", PDF)
    site.shown_as = "https://evil.example.org"
    with pytest.raises(IntakeError):
        take_in()


@pytest.mark.parametrize(
    ("name", "place"),
    [*((name, "/delta") for name in FAULTS), *(("503", place) for place in ("/permissions", "/pages/", "/lists"))],
)
def test_a_fault_in_a_listing_changes_nothing(
    site: SharePoint, take_in: TakeIn, staging: Path, name: str, place: str
) -> None:
    site.put("a.pdf", PDF)
    site.put_page("Start", "Start", TEXT)
    with proxy_of(site.url) as proxy:
        site.shown_as = proxy.url
        take_in(proxy.url)
        before = sorted(staging.rglob("*"))
        proxy.fault = lambda number, path: FAULTS[name] if place in path else None
        with pytest.raises((IntakeError, TransientError)):
            take_in(proxy.url)
    assert sorted(staging.rglob("*")) == before


def test_a_site_that_is_not_there_says_what_the_identity_needs(site: SharePoint, take_in: TakeIn) -> None:
    with pytest.raises(IntakeError, match=r"is not there.*Sites\.Read\.All"):
        take_in(url=f"{site.site}-of-others")


def test_an_identity_that_is_not_known_is_told_what_it_needs(site: SharePoint, take_in: TakeIn) -> None:
    site.shown_as = "https://graph.example.org"  # tokens for another audience than this are not valid
    with pytest.raises(IntakeError, match="does not let this user sign in; the identity of this process needs"):
        take_in()


def test_a_process_without_an_identity_is_told_how_to_get_one(site: SharePoint, take_in: TakeIn) -> None:
    site.identity.status = 400
    with pytest.raises(ServiceRefusedError, match=r"no token for Microsoft Graph.*Sites\.Read\.All"):
        take_in()


@pytest.mark.parametrize("url", ["http://example.org/sites/a", "https://me:secret@example.org", "file:///etc"])
@pytest.mark.parametrize("option", ["url", "graph"])
def test_a_token_is_sent_to_no_address_where_others_may_read_it(url: str, option: str) -> None:
    with pytest.raises(ValueError, match=r"passwords|it holds"):
        SharePointOptions.model_validate({"url": "https://example.org/sites/a", option: url})


def test_written_pages_in_a_library_show_their_pictures(site: SharePoint, take_in: TakeIn, staging: Path) -> None:
    site.put("Guide/start.html", page(f'<p>{PROSE}</p><img src="img/panel.png"><a href="next.html">next</a>').encode())
    site.put("Guide/next.html", page().encode())
    site.put("Guide/img/panel.png", b"picture")
    take_in()
    shown = page_of(staging, "site-guide-start")
    assert 'href="../site-guide-next/index.html"' in shown
    assert (staging / "site-guide-start" / "panel.png").read_bytes() == b"picture"


def busy_once(right: Answer) -> Answer:
    return Answer(429, b"", (("Retry-After", "0"),))


def test_what_is_throttled_is_asked_again(site: SharePoint, take_in: TakeIn) -> None:
    site.put("a.pdf", PDF)
    with proxy_of(site.url) as proxy:
        site.shown_as = proxy.url
        proxy.fault = lambda number, path: busy_once if number % 2 else None
        assert take_in(proxy.url, settings={"attempts": 3}).new == ["site-a"]
