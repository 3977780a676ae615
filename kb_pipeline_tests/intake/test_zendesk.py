"""A Zendesk help center is taken in: articles, pictures, and for whom."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from kb_pipeline.errors import IntakeError, TransientError
from kb_pipeline.intake.running import Taken, run
from kb_pipeline.intake.zendesk import ZendeskOptions, ZendeskSource
from kb_pipeline.records import HIDDEN
from kb_pipeline.settings import Settings
from kb_pipeline_tests.intake.conftest import PROSE
from kb_pipeline_tests.intake.faulty_proxy import FAULTS, proxy_of
from kb_pipeline_tests.prism import SPECS, prism_proxy
from kb_pipeline_tests.zendesk_service import TOKEN, USER, HelpCenter, help_center

BODY = f"<p>{PROSE}</p>"


@pytest.fixture
def center() -> Iterator[HelpCenter]:
    with help_center() as made:
        made.put(1, "Valves", BODY)
        made.put(2, "Pumps", BODY, user_segment_id=7)
        made.put(3, "Fees", BODY, user_segment_id=8, user_segment_ids=[7, 8])
        yield made


def take_in(center: HelpCenter, settings: Settings, url: str = "", **options: object) -> Taken:
    signed_in = Settings.model_validate(
        {**settings.model_dump(), "intake_passwords": json.dumps({"help": TOKEN}), "attempts": 1}
    )
    given = {"url": url or center.url, "user": USER, **options}
    return run(ZendeskSource("help", ZendeskOptions.model_validate(given), signed_in), signed_in)


def facts_of(staging: Path, article: str) -> dict[str, object]:
    return dict(json.loads((staging / article / "metadata.json").read_text()))


def readers_of(staging: Path) -> list[object]:
    return [facts_of(staging, f"help-{name}").get("access_control_list") for name in ("valves", "pumps", "fees")]


@pytest.mark.slow("starts a proxy")
def test_what_is_asked_and_answered_is_as_zendesk_describes_it(
    center: HelpCenter, settings: Settings, staging: Path
) -> None:
    with prism_proxy(SPECS / "zendesk-help-center.excerpt.openapi.json", center.url) as url:
        taken = take_in(center, settings, url, segments={"Partners": ["partners"]})
        center.articles[1]["section_id"] = "five"
        with pytest.raises(TransientError, match="/articles answered with status 500"):  # so the proxy does look
            take_in(center, settings, url)
    assert (len(taken.new), taken.refused, taken.hidden) == (3, {}, 0)


def test_articles_come_with_pictures_links_and_facts(center: HelpCenter, settings: Settings, staging: Path) -> None:
    center.pictures["9/the panel.png"] = b"picture"
    picture = '<img src="/hc/article_attachments/9/the%20panel.png"><img src="/hc/article_attachments/8/lost.png">'
    center.put(1, "Valves", f'{BODY}{picture}<a href="/hc/en-us/articles/2-Pumps#use">Pumps</a>', label_names=["wet"])
    center.put(4, "Not yet", BODY, draft=True)
    taken = take_in(center, settings)
    assert (sorted(taken.new), taken.refused) == (["help-fees", "help-pumps", "help-valves"], {})
    page = (staging / "help-valves" / "index.html").read_text()
    assert '<img src="the%20panel.png">' in page
    assert '<a href="../help-pumps/index.html#use">' in page
    assert (staging / "help-valves" / "the panel.png").read_bytes() == b"picture"
    facts = facts_of(staging, "help-valves")
    assert facts["key_topics"] == ["Machines", "Pumps", "wet"]
    assert facts["source_url"] == f"{center.url}/hc/en-us/articles/1-Valves"


def test_what_a_segment_restricts_is_for_those_that_are_declared(
    center: HelpCenter, settings: Settings, staging: Path
) -> None:
    take_in(center, settings)
    assert readers_of(staging) == [None, [HIDDEN], [HIDDEN]]
    take_in(center, settings, segments={"Partners": ["partners"], "Agents and admins": ["agents", "partners"]})
    assert readers_of(staging) == [None, ["partners"], ["partners", "agents"]]
    center.is_manager = False  # so that nobody says which segment is which
    take_in(center, settings, segments={"Partners": ["partners"]})
    assert readers_of(staging) == [None, [HIDDEN], [HIDDEN]]


def test_what_needs_a_login_is_hidden_until_readers_are_declared(
    center: HelpCenter, settings: Settings, staging: Path
) -> None:
    center.needs_token = True
    take_in(center, settings)
    assert readers_of(staging) == [[HIDDEN]] * 3
    take_in(center, settings, readers=["customers"])
    assert readers_of(staging) == [["customers"], [HIDDEN], [HIDDEN]]


def test_an_article_that_does_not_say_who_may_read_it_is_hidden(
    center: HelpCenter, settings: Settings, staging: Path
) -> None:
    del center.articles[1]["user_segment_id"]
    take_in(center, settings)
    assert readers_of(staging)[0] == [HIDDEN]


def test_only_what_changed_is_fetched(center: HelpCenter, settings: Settings, staging: Path) -> None:
    take_in(center, settings)
    center.asked.clear()
    taken = take_in(center, settings)
    assert (taken.new, taken.changed, taken.unchanged) == ([], [], 3)
    assert not [path for path in center.asked if "/articles/" in path]
    center.put(2, "Pumps", f"{BODY}<p>{PROSE}</p>", user_segment_id=7)
    assert take_in(center, settings).changed == ["help-pumps"]
    center.put(2, "Pumps", BODY, draft=True)
    assert take_in(center, settings).gone == ["help-pumps"]


def test_a_wrong_token_is_named_without_it(center: HelpCenter, settings: Settings) -> None:
    with pytest.raises(IntakeError, match="KB_INTAKE_PASSWORDS") as told:
        take_in(center, settings, user="another@example.org")
    assert TOKEN not in str(told.value)


@pytest.mark.parametrize("name", FAULTS)
def test_a_fault_in_the_listing_changes_nothing(
    center: HelpCenter, settings: Settings, staging: Path, name: str
) -> None:
    take_in(center, settings)
    before = sorted(staging.rglob("*"))
    center.articles.clear()
    with proxy_of(center.url) as proxy:
        proxy.fault = lambda number, path: FAULTS[name] if path.partition("?")[0].endswith("/articles") else None
        with pytest.raises((IntakeError, TransientError)):
            take_in(center, settings, proxy.url)
    assert sorted(staging.rglob("*")) == before
