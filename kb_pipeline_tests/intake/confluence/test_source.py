"""A Confluence Cloud is taken in: pages, attachments, and for whom. A proxy holds both to Atlassian's description."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kb_pipeline.errors import IntakeError, TransientError
from kb_pipeline.intake.confluence.source import ConfluenceOptions, ConfluenceSource
from kb_pipeline.intake.running import Taken, run
from kb_pipeline.records import HIDDEN
from kb_pipeline.settings import Settings
from kb_pipeline_tests.confluence_service import TOKEN, USER, Confluence, confluence
from kb_pipeline_tests.intake.conftest import PROSE
from kb_pipeline_tests.intake.faulty_proxy import FAULTS, Answer, Fault, proxy_of
from kb_pipeline_tests.prism import SPECS, prism_proxy

PAGE = f"<p>{PROSE}</p>"
SPEC = SPECS / "confluence-cloud.excerpt.openapi.json"


@pytest.fixture
def site() -> Iterator[Confluence]:
    with confluence() as made:
        made.put("10", "Valves", PAGE)
        made.put("11", "Pump", PAGE, parent="10")
        made.put("12", "Motor", PAGE, parent="11")
        yield made


def take_in(site: Confluence, settings: Settings, url: str = "", **options: object) -> Taken:
    signed_in = Settings.model_validate(
        {**settings.model_dump(), "intake_passwords": json.dumps({"team": TOKEN}), "attempts": 1}
    )
    given = {"url": url or site.url, "user": USER, **options}
    return run(ConfluenceSource("team", ConfluenceOptions.model_validate(given), signed_in), signed_in)


def page_of(staging: Path, article: str) -> str:
    return (staging / article / "index.html").read_text()


def facts_of(staging: Path, article: str) -> dict[str, object]:
    return dict(json.loads((staging / article / "metadata.json").read_text()))


def readers_of(staging: Path, article: str) -> object:
    return facts_of(staging, article).get("access_control_list")


def followed(folder: Path) -> Path:
    """The description, where files are not elsewhere: the proxy follows redirects itself."""
    spec = json.loads(SPEC.read_text())
    [download] = [path for path in spec["paths"] if path.endswith("/download")]
    spec["paths"][download]["get"]["responses"]["200"] = {"description": ""}
    amended = folder / "spec.json"
    amended.write_text(json.dumps(spec))
    return amended


@pytest.mark.slow("starts a proxy")
def test_what_is_asked_and_answered_is_as_atlassian_describes_it(
    site: Confluence, settings: Settings, staging: Path, tmp_path: Path
) -> None:
    site.folders = {"77": "10"}
    site.put("13", "In a folder", f'{PAGE}<ac:image><ri:attachment ri:filename="a.png"/></ac:image>', parent="77")
    site.attach("att1", "13", "a.png", b"picture")
    site.attach("att2", "13", "manual.pdf", b"%PDF-1.4")
    site.restrictions = {"10": ["g-hr", "u-ann"]}
    site.groups["g-hr"] = ["u-bob", "u-zoe"]
    site.unsearched = {"12"}
    with prism_proxy(followed(tmp_path), site.url) as url:
        taken = take_in(site, settings, url)
        site.pages["10"]["status"] = "unheard of"
        with pytest.raises(TransientError, match="/pages answered with status 500"):  # so the proxy does look
            take_in(site, settings, url)
    assert (len(taken.new), taken.refused, taken.hidden) == (5, {}, 0)
    assert (staging / "team-in-a-folder" / "a.png").read_bytes() == b"picture"
    assert readers_of(staging, "team-in-a-folder") == ["ann@example.org", "u-bob"]


def test_pages_become_articles_with_pictures_links_and_facts(
    site: Confluence, settings: Settings, staging: Path
) -> None:
    shown = '<ac:image ac:alt="The panel"><ri:attachment ri:filename="the panel.png"/></ac:image>'
    link = '<ac:link><ri:page ri:content-title="Pump"/><ac:link-body>the <b>pump</b></ac:link-body></ac:link>'
    plain = '<a href="/wiki/spaces/DOC/pages/12/Motor">Motor</a>'
    file = '<ac:link><ri:attachment ri:filename="Manual of it.PDF"/></ac:link>'
    site.put("10", "Valves", PAGE + shown + link + plain + file)
    site.attach("att1", "10", "the panel.png", b"picture")
    site.attach("att2", "10", "Manual of it.PDF", b"%PDF-1.4")
    site.labels["10"] = ["water"]
    taken = take_in(site, settings)
    assert sorted(taken.new) == ["team-manual-of-it", "team-motor", "team-pump", "team-valves"]
    page = page_of(staging, "team-valves")
    assert '<img src="the%20panel.png" alt="The panel">' in page
    assert '<a href="../team-pump/index.html">the <b>pump</b></a>' in page
    assert '<a href="../team-motor/index.html">Motor</a>' in page
    assert '<a href="../team-manual-of-it/Manual%20of%20it.pdf">Manual of it.PDF</a>' in page
    assert (staging / "team-valves" / "the panel.png").read_bytes() == b"picture"
    assert (staging / "team-manual-of-it" / "Manual of it.pdf").read_bytes() == b"%PDF-1.4"
    facts = facts_of(staging, "team-valves")
    assert (facts["title"], facts["key_topics"]) == ("Valves", ["water"])
    assert facts["source_url"] == f"{site.url}/wiki/spaces/DOC/pages/10/Valves"


def test_only_what_changed_is_fetched(site: Confluence, settings: Settings, staging: Path) -> None:
    site.attach("att1", "10", "a.png", b"red")
    site.put("10", "Valves", f'{PAGE}<ac:image><ri:attachment ri:filename="a.png"/></ac:image>')
    take_in(site, settings)
    site.asked.clear()
    taken = take_in(site, settings)
    assert (taken.new, taken.changed, taken.unchanged) == ([], [], 3)
    assert not [path for path in site.asked if "/pages/" in path or "restriction" in path]
    site.attach("att1", "10", "a.png", b"blue")
    assert take_in(site, settings).changed == ["team-valves"]
    assert (staging / "team-valves" / "a.png").read_bytes() == b"blue"
    site.put("11", "Pump", f"{PAGE}<p>{PROSE}</p>", parent="10")
    assert take_in(site, settings).changed == ["team-pump"]
    site.remove("12")
    assert take_in(site, settings).gone == ["team-motor"]


def test_a_page_is_for_those_whom_its_space_lets_read(site: Confluence, settings: Settings, staging: Path) -> None:
    site.permissions["1"] = ["g-staff", "u-ann", "u-dan"]
    take_in(site, settings)
    assert readers_of(staging, "team-valves") == ["staff", "ann@example.org", "u-dan"]


def test_what_only_a_role_lets_read_is_hidden(site: Confluence, settings: Settings, staging: Path) -> None:
    site.permissions["1"] = ["r-7"]
    assert take_in(site, settings).hidden == 3
    assert readers_of(staging, "team-valves") == [HIDDEN]


def test_a_restriction_holds_for_all_pages_below(site: Confluence, settings: Settings, staging: Path) -> None:
    site.groups["g-hr"] = ["u-bob", "u-cy"]
    site.restrictions = {"11": ["g-hr"]}
    take_in(site, settings)
    found = [readers_of(staging, f"team-{name}") for name in ("valves", "pump", "motor")]
    assert found == [["staff"], ["hr"], ["hr"]]


@pytest.mark.parametrize(
    ("restrictions", "readers"),
    [
        ({"12": ["u-ann"]}, ["ann@example.org"]),
        ({"12": ["u-zoe"]}, [HIDDEN]),  # may not read the space
        ({"12": ["g-mixed"]}, ["u-bob"]),  # the others of the group may not
        ({"12": ["g-staff"]}, ["staff"]),
        ({"11": ["u-ann", "u-bob"], "12": ["g-mixed"]}, ["u-bob"]),
        ({"11": ["u-ann"], "12": ["u-bob"]}, [HIDDEN]),
        ({"10": ["g-mixed"], "12": ["u-bob", "u-cy"]}, ["u-bob"]),
        ({"12": ["g-nobody"]}, [HIDDEN]),
    ],
)
def test_nobody_reads_what_one_of_the_rules_forbids(
    site: Confluence, settings: Settings, staging: Path, restrictions: dict[str, list[str]], readers: list[str]
) -> None:
    site.groups |= {"g-mixed": ["u-bob", "u-zoe"], "g-nobody": []}
    site.restrictions = restrictions
    take_in(site, settings)
    assert readers_of(staging, "team-motor") == readers


def test_what_restricts_a_page_that_cannot_be_read_hides_it_and_all_below(
    site: Confluence, settings: Settings, staging: Path
) -> None:
    site.unread = {"11"}
    taken = take_in(site, settings)
    assert (taken.hidden, taken.refused) == (2, {})
    found = [readers_of(staging, f"team-{name}") for name in ("valves", "pump", "motor")]
    assert found == [["staff"], [HIDDEN], [HIDDEN]]
    site.unread = set()
    assert sorted(take_in(site, settings).changed) == ["team-motor", "team-pump"]
    assert readers_of(staging, "team-motor") == ["staff"]


def test_a_page_below_something_that_is_not_known_is_hidden(
    site: Confluence, settings: Settings, staging: Path
) -> None:
    site.folders = {"77": "10", "78": "gone"}
    site.put("20", "Open", PAGE, parent="77")
    site.put("21", "Closed", PAGE, parent="78")
    take_in(site, settings)
    assert (readers_of(staging, "team-open"), readers_of(staging, "team-closed")) == (["staff"], [HIDDEN])


def test_a_new_restriction_applies_though_the_page_is_the_same(
    site: Confluence, settings: Settings, staging: Path
) -> None:
    site.attach("att1", "12", "manual.pdf", b"%PDF-1.4")
    take_in(site, settings)
    site.restrictions = {"12": ["u-ann"]}
    take_in(site, settings)
    assert readers_of(staging, "team-motor") == readers_of(staging, "team-manual") == ["ann@example.org"]


def test_declared_readers_stand_for_the_space_and_not_for_restrictions(
    site: Confluence, settings: Settings, staging: Path
) -> None:
    site.restrictions = {"12": ["u-ann"]}
    take_in(site, settings, readers=["team-a"])
    assert (readers_of(staging, "team-pump"), readers_of(staging, "team-motor")) == (["team-a"], ["ann@example.org"])


def test_a_page_shows_nothing_of_other_pages(site: Confluence, settings: Settings, staging: Path) -> None:
    site.put("20", "Secret", PAGE)
    site.attach("att1", "20", "secret.png", b"secret")
    other = '<ri:page ri:content-title="Secret"/>'
    site.put(
        "10", "Valves", f'{PAGE}<ac:image><ri:attachment ri:filename="secret.png">{other}</ri:attachment></ac:image>'
    )
    site.restrictions = {"20": ["u-ann"]}
    take_in(site, settings)
    assert not list((staging / "team-valves").glob("*.png"))
    assert "secret.png" not in page_of(staging, "team-valves")


def test_public_pages_are_read_without_a_user(site: Confluence, settings: Settings, staging: Path) -> None:
    site.needs_token = False
    assert len(take_in(site, settings, user="").new) == 3
    assert readers_of(staging, "team-valves") is None
    assert not [path for path in site.asked if "permission" in path or "restriction" in path]


def test_spaces_are_those_that_are_named_or_all_but_personal_ones(site: Confluence, settings: Settings) -> None:
    site.spaces |= {"2": "OPS", "3": "~ann"}
    site.permissions |= {"2": ["g-staff"], "3": ["u-ann"]}
    site.put("20", "Run", PAGE, space="2")
    site.put("30", "Diary", PAGE, space="3")
    assert sorted(take_in(site, settings).new) == ["team-motor", "team-pump", "team-run", "team-valves"]
    assert take_in(site, settings, spaces=["~ann", "OPS", "DOC"], exclude=["V*"]).new == ["team-diary"]
    with pytest.raises(IntakeError, match="has no space NONE"):
        take_in(site, settings, spaces=["NONE"])


def test_a_wrong_token_is_named_without_it(site: Confluence, settings: Settings) -> None:
    with pytest.raises(IntakeError, match="KB_INTAKE_PASSWORDS"):
        ConfluenceSource("team", ConfluenceOptions.model_validate({"url": site.url, "user": USER}), settings)
    with pytest.raises(IntakeError, match="KB_INTAKE_PASSWORDS") as told:
        take_in(site, settings, user="another@example.org")
    assert TOKEN not in str(told.value)


@pytest.mark.parametrize("url", ["http://wiki.example.org", "https://me:secret@wiki.example.org", "file:///etc"])
def test_a_token_is_sent_to_no_address_where_others_may_read_it(url: str) -> None:
    with pytest.raises(ValueError, match=r"passwords|it holds"):
        ConfluenceOptions.model_validate({"url": url})


@pytest.mark.parametrize(
    "elsewhere", ["http://169.254.169.254/latest", "http://10.0.0.1/x", "https://evil-atlassian.com/x"]
)
def test_files_are_taken_from_no_host_that_only_an_answer_names(
    site: Confluence, settings: Settings, staging: Path, elsewhere: str
) -> None:
    site.attach("att1", "10", "manual.pdf", b"%PDF-1.4")
    site.elsewhere = elsewhere
    taken = take_in(site, settings)
    assert list(taken.refused) == ["att1"]
    assert "from which nothing is taken" in taken.refused["att1"]
    assert len(taken.new) == 3


def test_the_token_is_not_sent_to_where_files_are(site: Confluence, settings: Settings, staging: Path) -> None:
    site.attach("att1", "10", "manual.pdf", b"%PDF-1.4")
    site.is_media_elsewhere = True
    with proxy_of(site.url) as proxy:
        assert take_in(site, settings, proxy.url).refused == {}
    assert (staging / "team-manual" / "manual.pdf").read_bytes() == b"%PDF-1.4"


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_the_listing_changes_nothing(site: Confluence, settings: Settings, staging: Path, name: str) -> None:
    take_in(site, settings)
    before = sorted(staging.rglob("*"))
    site.pages.clear()
    with proxy_of(site.url) as proxy:
        proxy.fault = lambda number, path: FAULTS[name] if "/spaces/1/pages" in path else None
        with pytest.raises((IntakeError, TransientError)):
            take_in(site, settings, proxy.url)
    assert sorted(staging.rglob("*")) == before


def lists_again(right: Answer) -> Answer:
    return right._replace(body=b'{"results": [], "_links": {"next": "/wiki/api/v2/spaces?cursor=2"}}')


def names_no_results(right: Answer) -> Answer:
    return right._replace(body=b'{"message": "moved"}')


@pytest.mark.parametrize("fault", [lists_again, names_no_results])
def test_a_listing_without_an_end_is_refused(site: Confluence, settings: Settings, fault: Fault) -> None:
    with proxy_of(site.url) as proxy:
        proxy.fault = lambda number, path: fault if "/v2/spaces" in path else None
        with pytest.raises(IntakeError, match=r"again and again|lists nothing"):
            take_in(site, settings, proxy.url)
