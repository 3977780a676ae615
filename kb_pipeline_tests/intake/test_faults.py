"""Each request to a service fails once, in each way: no article is lost or half, and nobody reads what is not for them.

What a website, a wiki, a folder, a repository and a mailbox do then is stated where they are tested.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from itertools import count
from pathlib import Path

import pytest
from pydantic import SecretStr

from kb_pipeline.errors import IntakeError, TransientError
from kb_pipeline.intake.base import IntakeSource
from kb_pipeline.intake.confluence.source import ConfluenceOptions, ConfluenceSource
from kb_pipeline.intake.running import run
from kb_pipeline.intake.sharepoint.source import SharePointOptions, SharePointSource
from kb_pipeline.intake.zendesk import ZendeskOptions, ZendeskSource
from kb_pipeline.records import HIDDEN
from kb_pipeline.settings import Settings
from kb_pipeline_tests import confluence_service, zendesk_service
from kb_pipeline_tests.graph_service import sharepoint, to_group
from kb_pipeline_tests.intake.conftest import PROSE
from kb_pipeline_tests.intake.faulty_proxy import FAULTS, Answer, Fault, Proxy, proxy_of
from kb_pipeline_tests.managed_identity import signed_in

WAYS: dict[str, Fault] = {
    **FAULTS,
    "into the network": lambda right: Answer(302, b"", (("Location", "http://169.254.169.254/latest"),)),
}
DENIED = (403, 404)
"""What a service says of what it has no more, or lets this user read no more: a right answer, no fault."""
OLD, NEW = f"{PROSE} This is the first version.", f"{PROSE} This is the second version."
HR = "group-hr"
ARTICLES = ("it-open", "it-restricted")


@dataclass
class Service:
    """A service behind a proxy with two articles: ``open`` is for its staff or all, ``restricted`` is for HR only."""

    proxy: Proxy
    source: Callable[[Settings], IntakeSource]
    write: Callable[[str], None]
    """Gives both articles this text."""


@contextmanager
def a_confluence(_: pytest.MonkeyPatch) -> Iterator[Service]:
    with confluence_service.confluence() as site, proxy_of(site.url) as proxy:
        site.restrictions = {"2": [f"g-{HR}"]}
        site.groups[f"g-{HR}"] = ["u-ann"]

        def write(text: str) -> None:
            site.put("1", "Open", f"<p>{text}</p>")
            site.put("2", "Restricted", f"<p>{text}</p>")

        options = ConfluenceOptions(url=proxy.url, user=confluence_service.USER)
        yield Service(proxy, lambda settings: ConfluenceSource("it", options, settings), write)


@contextmanager
def a_sharepoint(monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    with signed_in(monkeypatch) as identity, sharepoint(identity) as site, proxy_of(site.url) as proxy:
        site.shown_as = proxy.url

        def write(text: str) -> None:
            part = {"@odata.type": "#microsoft.graph.textWebPart", "id": "1", "innerHtml": f"<p>{text}</p>"}
            site.put_page("Open", "Open", part)
            site.permissions[site.put_page("Restricted", "Restricted", part)] = [to_group(HR)]

        options = SharePointOptions(url=site.site, graph=proxy.url)
        yield Service(proxy, lambda settings: SharePointSource("it", options, settings), write)


@contextmanager
def a_zendesk(_: pytest.MonkeyPatch) -> Iterator[Service]:
    with zendesk_service.help_center() as center, proxy_of(center.url) as proxy:

        def write(text: str) -> None:
            center.put(1, "Open", f"<p>{text}</p>")
            center.put(2, "Restricted", f"<p>{text}</p>", user_segment_id=7)

        given = {"url": proxy.url, "user": zendesk_service.USER, "segments": {"Partners": [HR]}}
        options = ZendeskOptions.model_validate(given)
        yield Service(proxy, lambda settings: ZendeskSource("it", options, settings), write)


SERVICES = {"confluence": a_confluence, "sharepoint": a_sharepoint, "zendesk": a_zendesk}


@pytest.fixture(params=SERVICES)
def service(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Service]:
    with SERVICES[request.param](monkeypatch) as made:
        yield made


@pytest.fixture
def once(settings: Settings) -> Settings:
    """What fails is not asked for again within a run."""
    tokens = {"it": confluence_service.TOKEN}
    return settings.model_copy(update={"attempts": 1, "intake_passwords": SecretStr(json.dumps(tokens))})


def text_of(staging: Path, article: str) -> str:
    return (staging / article / "index.html").read_text()


def readers_of(staging: Path, article: str) -> set[str]:
    return set(json.loads((staging / article / "metadata.json").read_text()).get("access_control_list", ()))


def assert_for_no_others(staging: Path, readers: dict[str, set[str]]) -> None:
    """Each article is for its readers, or hidden from all: a service that does not say may be one that denies."""
    for article in {each.parent.name for each in staging.glob("*/index.html")}:
        assert readers_of(staging, article) in (readers[article], {HIDDEN}), article


def fail_once(service: Service, settings: Settings, number: int, fault: Fault) -> int:
    """Take in the service, whose request of this number fails; returns how many were asked."""
    service.proxy.asked = 0
    service.proxy.fault = lambda asked, path: fault if asked == number else None
    with suppress(IntakeError, TransientError):  # then nothing is changed, which the caller looks at
        run(service.source(settings), settings)
    service.proxy.fault = lambda asked, path: None
    return service.proxy.asked


def loses_and_shows_nothing(
    service: Service, settings: Settings, staging: Path, way_of: Callable[[int], Fault]
) -> None:
    """Whichever request fails in its way: what was taken in before stays until all that is new has come."""
    service.write(OLD)
    run(service.source(settings), settings)
    readers = {article: readers_of(staging, article) for article in ARTICLES}
    assert readers["it-restricted"]
    for number in count(1):
        text = (OLD, NEW)[number % 2]
        service.write(text)
        if fail_once(service, settings, number, way_of(number)) < number:
            break
        assert {each.parent.name for each in staging.glob("*/index.html")} == {*ARTICLES}
        assert all(OLD in text_of(staging, article) or NEW in text_of(staging, article) for article in ARTICLES)
        assert_for_no_others(staging, readers)
        taken = run(service.source(settings), settings)
        assert (taken.refused, taken.guard, taken.gone) == ({}, "", [])
        assert all(text in text_of(staging, article) for article in ARTICLES)
    assert number > 6


@pytest.mark.slow("each request of three services fails")
@pytest.mark.parametrize("first", [0, len(WAYS) // 2])
def test_a_fault_in_any_request_loses_and_shows_nothing(
    service: Service, once: Settings, staging: Path, first: int
) -> None:
    in_turn = [*WAYS.values()]
    loses_and_shows_nothing(service, once, staging, lambda number: in_turn[(first + number) % len(in_turn)])


@pytest.mark.rare("each request of three services fails in each way")
@pytest.mark.parametrize("way", WAYS)
def test_nor_does_any_fault_in_any_request(service: Service, once: Settings, staging: Path, way: str) -> None:
    loses_and_shows_nothing(service, once, staging, lambda number: WAYS[way])


@pytest.mark.slow("each request of three services is denied")
@pytest.mark.parametrize(
    "in_turn", [DENIED, pytest.param(DENIED[::-1], marks=pytest.mark.rare("each request in the other way"))]
)
def test_whatever_is_denied_nobody_else_reads(
    service: Service, once: Settings, staging: Path, in_turn: tuple[int, int]
) -> None:
    service.write(OLD)
    run(service.source(once), once)
    readers = {article: readers_of(staging, article) for article in ARTICLES}
    for number in count(1):
        service.write((OLD, NEW)[number % 2])
        denied = Answer(in_turn[number % 2], b"{}")
        if fail_once(service, once, number, lambda right, denied=denied: denied) < number:
            break
        assert_for_no_others(staging, readers)
        run(service.source(once), once)
        assert {article: readers_of(staging, article) for article in ARTICLES} == readers
    assert number > 6
