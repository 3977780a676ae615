"""A real MediaWiki is taken in as it renders itself: pages, pictures, other names, and who may read."""

import io
import json
from collections.abc import Iterator
from pathlib import Path

import pytest
from PIL import Image

from kb_pipeline.errors import IntakeError, TransientError
from kb_pipeline.intake.mediawiki import MediaWikiOptions, MediaWikiSource
from kb_pipeline.intake.running import Taken, run
from kb_pipeline.records import HIDDEN
from kb_pipeline.settings import Settings
from kb_pipeline_tests.intake.conftest import PROSE
from kb_pipeline_tests.intake.faulty_proxy import FAULTS, proxy_of
from kb_pipeline_tests.mediawiki import Wiki, installed, running_wiki

pytestmark = [
    pytest.mark.skipif(installed() is None, reason="there is no MediaWiki; scripts/mediawiki.sh gets it"),
    pytest.mark.slow("starts a wiki"),
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


@pytest.mark.parametrize("name", FAULTS)
def test_faults_that_pass_are_waited_for(
    wiki: Wiki, settings: Settings, staging: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tenacity.nap.sleep", lambda seconds: None)
    with proxy_of(wiki.url) as proxy:
        proxy.fault = lambda number, path: FAULTS[name] if number in (1, 3, 6, 8) else None
        taken = take_in(wiki, settings, url=f"{proxy.url}/api.php")
    assert (taken.new, taken.refused) == (["wiki-pump-use", "wiki-valve"], {})
    assert (staging / "wiki-valve" / "Valve_panel.png").read_bytes() == picture("red")


@pytest.mark.parametrize("name", FAULTS)
def test_faults_that_stay_change_nothing(
    wiki: Wiki, settings: Settings, staging: Path, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("tenacity.nap.sleep", lambda seconds: None)
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
