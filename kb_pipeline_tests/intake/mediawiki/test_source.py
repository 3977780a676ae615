"""A real MediaWiki is taken in as it renders itself: pages, pictures, other names, and who may read."""

import io
import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image

from kb_pipeline.errors import IntakeError, TransientError
from kb_pipeline.intake.mediawiki.api import MediaWikiApi
from kb_pipeline.intake.mediawiki.source import MediaWikiOptions, MediaWikiSource, _Files
from kb_pipeline.intake.running import Taken, run
from kb_pipeline.records import HIDDEN
from kb_pipeline.settings import Settings
from kb_pipeline_tests.intake.conftest import PROSE
from kb_pipeline_tests.intake.faulty_proxy import FAULTS, Answer, Fault, proxy_of
from kb_pipeline_tests.mediawiki import Wiki, installed, running_wiki

pytestmark = [
    pytest.mark.skipif(installed() is None, reason="there is no MediaWiki; scripts/mediawiki.sh gets it"),
    pytest.mark.rare("starts a wiki, which apt must have"),
]


def picture(colour: str) -> bytes:
    data = io.BytesIO()
    Image.new("RGB", (640, 480), colour).save(data, "PNG")
    return data.getvalue()


@pytest.fixture(scope="module")
def filled(empty_wiki: Path) -> Path:
    folder = empty_wiki.with_name("filled")
    with running_wiki(empty_wiki, folder) as made:
        made.upload("Valve panel.png", picture("red"), "The three switches of the panel.")
        made.put("Template:Note", "Mind: {{{1}}}")
        made.put("Pump/Use", f"{PROSE} [[Category:Machines]] [[Category:Water]]")
        made.put("Old pump", "#REDIRECT [[Pump/Use]]")
        made.put("Valve", f"{PROSE} {{{{Note|hot}}}} [[File:Valve panel.png|300px]] [[old pump#More]] [[Not there]]")
        made.put("Help:Wiki", PROSE)
        made.run_jobs()
    return folder


@pytest.fixture
def wiki(filled: Path, tmp_path: Path) -> Iterator[Wiki]:
    with running_wiki(filled, tmp_path / "wiki") as made:
        yield made


def take_in(wiki: Wiki, settings: Settings, **options: object) -> Taken:
    given = {"url": f"{wiki.url}/api.php", "exclude": ("Main Page",), **options}
    return run(MediaWikiSource("wiki", MediaWikiOptions.model_validate(given), settings), settings)


def page_of(staging: Path, article: str) -> str:
    return (staging / article / "index.html").read_text()


def metadata_of(staging: Path, article: str) -> dict[str, object]:
    return dict(json.loads((staging / article / "metadata.json").read_text()))


def test_pages_become_articles_with_pictures_links_and_facts(wiki: Wiki, settings: Settings, staging: Path) -> None:
    taken = take_in(wiki, settings, url=f"{wiki.url}/index.php/Valve")
    assert (taken.new, taken.refused) == (["wiki-pump-use", "wiki-valve"], {})
    page = page_of(staging, "wiki-valve")
    assert "Mind: hot" in page
    assert '<img alt="The three switches of the panel." src="Valve_panel.png"' in page
    assert (staging / "wiki-valve" / "Valve_panel.png").read_bytes() == picture("red")
    assert 'href="../wiki-pump-use/index.html#More"' in page
    assert f'href="{wiki.url}/index.php?title=Not_there' in page
    facts = metadata_of(staging, "wiki-pump-use")
    assert facts["source_url"] == f"{wiki.url}/index.php/Pump/Use"
    assert (facts["title"], facts["author"]) == ("Pump/Use", "Admin")
    assert facts["key_topics"] == ["Machines", "Water"]
    assert "access_control_list" not in facts


def test_namespaces_are_those_with_content_or_those_that_are_named(wiki: Wiki, settings: Settings) -> None:
    taken = take_in(wiki, settings, namespaces=["Help", 0])
    assert sorted(taken.new) == ["wiki-help-wiki", "wiki-pump-use", "wiki-valve"]
    with pytest.raises(IntakeError, match=r"no namespace Nowhere; it has 0, Talk"):
        take_in(wiki, settings, namespaces=["Nowhere"])


def test_only_what_changed_is_fetched(wiki: Wiki, settings: Settings, staging: Path) -> None:
    take_in(wiki, settings)
    asked = wiki.requests()
    taken = take_in(wiki, settings)
    assert (taken.new, taken.changed, taken.unchanged) == ([], [], 2)
    assert not [line for line in wiki.requests()[len(asked) :] if "action=parse" in line]
    wiki.put("Pump/Use", f"{PROSE} And then close it.")
    assert take_in(wiki, settings).changed == ["wiki-pump-use"]


def test_a_template_or_picture_that_changes_changes_the_pages_that_show_it(
    wiki: Wiki, settings: Settings, staging: Path
) -> None:
    take_in(wiki, settings)
    wiki.run_jobs()
    wiki.put("Template:Note", "Beware: {{{1}}}")
    wiki.run_jobs()
    assert take_in(wiki, settings).changed == ["wiki-valve"]
    assert "Beware: hot" in page_of(staging, "wiki-valve")
    wiki.upload("Valve panel.png", picture("blue"))
    wiki.run_jobs()
    assert take_in(wiki, settings).changed == ["wiki-valve"]
    assert (staging / "wiki-valve" / "Valve_panel.png").read_bytes() == picture("blue")


def test_a_page_that_moves_keeps_its_article_and_one_that_is_deleted_loses_it(
    wiki: Wiki, settings: Settings, staging: Path
) -> None:
    take_in(wiki, settings)
    wiki.move("Pump/Use", "Motor", redirect=False)
    taken = take_in(wiki, settings)
    assert (taken.new, taken.gone) == ([], [])
    assert metadata_of(staging, "wiki-pump-use")["title"] == "Motor"
    wiki.remove("Valve")
    assert take_in(wiki, settings).gone == ["wiki-valve"]


def test_a_picture_that_the_wiki_lost_is_left_out_of_its_page(wiki: Wiki, settings: Settings, staging: Path) -> None:
    next(wiki.images.rglob("Valve_panel.png")).unlink()
    assert "wiki-valve" in take_in(wiki, settings).new
    assert not list((staging / "wiki-valve").glob("*.png"))


def test_nobody_reads_what_needs_a_login_unless_its_readers_are_named(
    wiki: Wiki, settings: Settings, staging: Path
) -> None:
    user, password = wiki.bot_password()
    wiki.configure("$wgGroupPermissions['*']['read'] = false;")
    with pytest.raises(IntakeError, match="Special:BotPasswords"):
        take_in(wiki, settings)
    with pytest.raises(IntakeError, match="KB_INTAKE_PASSWORDS"):
        take_in(wiki, settings, user=user)
    signed_in = Settings.model_validate({**settings.model_dump(), "intake_passwords": json.dumps({"wiki": password})})
    taken = take_in(wiki, signed_in, user=user, url=f"{wiki.url}/index.php/Valve")
    assert (len(taken.new), taken.hidden) == (2, 2)
    assert metadata_of(staging, "wiki-valve")["access_control_list"] == [HIDDEN]
    named = take_in(wiki, signed_in, user=user, readers=["team-a"])
    assert (named.changed, named.hidden) == (["wiki-pump-use", "wiki-valve"], 0)
    assert metadata_of(staging, "wiki-valve")["access_control_list"] == ["team-a"]
    wrong = Settings.model_validate({**settings.model_dump(), "intake_passwords": '{"wiki": "another"}'})
    with pytest.raises(IntakeError, match=r"does not let Admin@kb sign in.*KB_INTAKE_PASSWORDS") as told:
        take_in(wiki, wrong, user=user)
    assert "another" not in str(told.value)


@pytest.mark.usefixtures("no_pauses")
@pytest.mark.parametrize("name", FAULTS)
def test_faults_that_pass_are_waited_for(wiki: Wiki, settings: Settings, staging: Path, name: str) -> None:
    with proxy_of(wiki.url) as proxy:
        proxy.fault = lambda number, path: FAULTS[name] if number in (1, 3, 6, 8) else None
        taken = take_in(wiki, settings, url=f"{proxy.url}/api.php")
    assert (taken.new, taken.refused) == (["wiki-pump-use", "wiki-valve"], {})
    assert (staging / "wiki-valve" / "Valve_panel.png").read_bytes() == picture("red")


@pytest.mark.usefixtures("no_pauses")
@pytest.mark.parametrize("name", FAULTS)
def test_faults_that_stay_change_nothing(wiki: Wiki, settings: Settings, staging: Path, name: str) -> None:
    with proxy_of(wiki.url) as proxy:
        at_proxy = f"{proxy.url}/api.php"
        take_in(wiki, settings, url=at_proxy)
        before = {path: path.read_bytes() for path in staging.rglob("*") if path.is_file()}
        wiki.put("Valve", f"{PROSE} It is another now. [[File:Valve panel.png|300px]]")
        proxy.fault = lambda number, path: FAULTS[name]
        with pytest.raises(TransientError):
            take_in(wiki, settings, url=at_proxy)
        proxy.fault = lambda number, path: FAULTS[name] if "action=parse" in path else None
        taken = take_in(wiki, settings, url=at_proxy)
        assert (taken.gone, taken.changed, list(taken.refused)) == ([], [], ["6"])
        assert "another" not in page_of(staging, "wiki-valve")
        assert {path: path.read_bytes() for path in staging.rglob("*") if path.is_file()} == before
        proxy.fault = lambda number, path: None
        after = take_in(wiki, settings, url=at_proxy)
        assert (after.changed, after.refused) == (["wiki-valve"], {})


def changed_json(change: Callable[[dict[str, Any]], None]) -> Fault:
    """A right answer with something else in it."""

    def fault(right: Answer) -> Answer:
        answer = json.loads(right.body)
        change(answer.get("query", {}))
        return right._replace(body=json.dumps(answer).encode())

    return fault


def test_a_wiki_that_loses_half_of_its_pages_loses_no_article(wiki: Wiki, settings: Settings, staging: Path) -> None:
    for number in range(24):
        wiki.put(f"Page {number}", f"{PROSE} It is number {number}.")

    def lose(query: dict[str, Any]) -> None:
        query["pages"] = query["pages"][::2]

    with proxy_of(wiki.url) as proxy:
        take_in(wiki, settings, url=f"{proxy.url}/api.php")
        proxy.fault = lambda number, path: changed_json(lose) if "allpages" in path else None
        taken = take_in(wiki, settings, url=f"{proxy.url}/api.php")
    assert "--confirm-mass-removal" in taken.guard
    assert len(list(staging.iterdir())) == 26


def test_pages_that_are_only_touched_are_fetched_and_not_written(wiki: Wiki, settings: Settings, staging: Path) -> None:
    def touch(query: dict[str, Any]) -> None:
        for page in query["pages"]:
            page["touched"] = "2030-01-01T00:00:00Z"

    with proxy_of(wiki.url) as proxy:
        take_in(wiki, settings, url=f"{proxy.url}/api.php")
        before = {path: path.stat().st_mtime_ns for path in staging.rglob("*")}
        proxy.fault = lambda number, path: changed_json(touch) if "allpages" in path else None
        taken = take_in(wiki, settings, url=f"{proxy.url}/api.php")
    assert (taken.changed, taken.unchanged, taken.bytes) == ([], 2, 0)
    assert {path: path.stat().st_mtime_ns for path in staging.rglob("*")} == before


def test_a_listing_that_is_not_complete_changes_nothing(wiki: Wiki, settings: Settings) -> None:
    def shorten(right: Answer) -> Answer:
        answer = json.loads(right.body)
        answer.pop("batchcomplete")
        return right._replace(body=json.dumps(answer).encode())

    with proxy_of(wiki.url) as proxy:
        proxy.fault = lambda number, path: shorten if "allpages" in path else None
        with pytest.raises(IntakeError, match="before it was complete"):
            take_in(wiki, settings, url=f"{proxy.url}/api.php")


@pytest.mark.parametrize("host", ["169.254.169.254", "localhost", "intranet.example.org"])
def test_pictures_are_fetched_from_no_host_that_only_the_wiki_names(
    wiki: Wiki, settings: Settings, staging: Path, host: str
) -> None:
    def lead_away(query: dict[str, Any]) -> None:
        for page in query.get("pages", ()):
            for facts in page.get("imageinfo", ()):
                facts["url"] = f"http://{host}/x.png"

    asked: list[str] = []
    with proxy_of(wiki.url) as proxy, pytest.MonkeyPatch.context() as patched:
        send = httpx.Client.send

        def noted(client: httpx.Client, request: httpx.Request, **options: Any) -> httpx.Response:
            asked.append(request.url.host)
            return send(client, request, **options)

        patched.setattr(httpx.Client, "send", noted)
        proxy.fault = lambda number, path: changed_json(lead_away) if "imageinfo" in path else None
        assert "wiki-valve" in take_in(wiki, settings, url=f"{proxy.url}/api.php").new
    assert set(asked) == {"127.0.0.1"}
    assert not list((staging / "wiki-valve").glob("*.png"))


def test_the_address_of_a_server_leads_to_its_wiki(wiki: Wiki, settings: Settings) -> None:
    assert "wiki-valve" in take_in(wiki, settings, url=wiki.url).new


@pytest.mark.parametrize("page", ["/api.php", ""])
def test_a_redirection_to_another_server_is_named_and_not_followed(wiki: Wiki, settings: Settings, page: str) -> None:
    with proxy_of(wiki.url) as proxy:
        proxy.fault = lambda number, path: lambda right: Answer(302, b"", (("Location", "http://169.254.169.254/"),))
        with pytest.raises(IntakeError, match=r"leads to http://169\.254\.169\.254/; declare that address"):
            take_in(wiki, settings, url=f"{proxy.url}{page}")


def test_a_page_that_may_not_be_read_any_more_has_no_article(wiki: Wiki, settings: Settings, staging: Path) -> None:
    denied = Answer(200, b'{"error": {"code": "permissiondenied", "info": "You may not."}}')
    with proxy_of(wiki.url) as proxy:
        take_in(wiki, settings, url=f"{proxy.url}/api.php")
        wiki.put("Valve", f"{PROSE} It is secret now.")
        proxy.fault = lambda number, path: (lambda right: denied) if "action=parse" in path else None
        taken = take_in(wiki, settings, url=f"{proxy.url}/api.php")
    assert (taken.left_out, taken.refused) == (1, {})
    assert not (staging / "wiki-valve").exists()


@pytest.mark.parametrize(
    "address",
    [
        "/images/8/8e/A_plan.png",
        "/images/thumb/8/8e/A_plan.png/220px-A_plan.png",
        "//upload.example.org/thumb/8/8e/A_plan.png/220px-thumbnail.png?x=1",
        "/thumb.php?f=A_plan.png&width=220",
        "/img_auth.php/8/8e/A_plan.png",
        "/images/thumb/8/8e/A%5Fplan.png/lossy-page1-1280px-A_plan.png",
    ],
)
def test_a_smaller_picture_is_known_by_its_name(address: str) -> None:
    files = _Files(Facts(mime="image/png"), ["A_plan.png"], str)
    assert files.find(address) == "A_plan.png"
    assert files.find("/images/1/11/Another.png") is None


def test_a_page_of_a_document_is_taken_as_it_is_shown() -> None:
    files = _Files(Facts(mime="application/pdf"), ["A_plan.png"], str)
    address = "/images/thumb/8/8e/A_plan.png/page1-220px-A_plan.png.jpg"
    assert files.find_there(address) == "A_plan.png.image"
    assert files.content("A_plan.png.image") == address.encode()


class Facts(MediaWikiApi):
    """An API that knows one file."""

    def __init__(self, **facts: str) -> None:
        self._facts = facts

    def ask(self, **parameters: str) -> dict[str, Any]:
        return {"query": {"pages": [{"title": "File:A plan.png", "imageinfo": [{"url": "/original", **self._facts}]}]}}

    def get(self, address: str) -> bytes:
        return address.encode()
