"""Who may read an article in its source reads it here, and nobody else: from the source to the search as each reader.

A wiki's login and the readers that a declaration names are stated where these sources are tested.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from email.message import EmailMessage
from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from app.api.server import create_app
from app.settings import AppSettings
from kb_pipeline.flow.build import build_article
from kb_pipeline.flow.layers import LAYER_NAMES, Run
from kb_pipeline.flow.publish import publish
from kb_pipeline.flow.workspace import open_workspace
from kb_pipeline.intake.base import IntakeSource
from kb_pipeline.intake.confluence.source import ConfluenceOptions, ConfluenceSource
from kb_pipeline.intake.folder import FolderOptions, FolderSource
from kb_pipeline.intake.mail.source import MailboxSource, MailOptions
from kb_pipeline.intake.running import run
from kb_pipeline.intake.sharepoint.source import SharePointOptions, SharePointSource
from kb_pipeline.intake.zendesk import ZendeskOptions, ZendeskSource
from kb_pipeline.records import HIDDEN
from kb_pipeline.settings import Settings
from kb_pipeline_tests import confluence_service, zendesk_service
from kb_pipeline_tests.app.api.conftest import signed_in as as_user
from kb_pipeline_tests.app.serving import serving_app
from kb_pipeline_tests.graph_service import sharepoint, to_group
from kb_pipeline_tests.intake.conftest import PROSE, page
from kb_pipeline_tests.managed_identity import signed_in

ANN, STAFF = "ann@example.org", "staff"
RESTRICTED, UNREADABLE = "Restricted", "Unreadable"
"""What Ann may read, and what nobody knows the readers of."""
Sources = Callable[[Settings], list[IntakeSource]]


@contextmanager
def a_folder(folder: Path, _: pytest.MonkeyPatch) -> Iterator[Sources]:
    for name, readers in ((RESTRICTED, f'{{"access_control_list": ["{ANN}"]}}'), (UNREADABLE, "{")):
        (folder / "tree" / name).mkdir(parents=True)
        (folder / "tree" / name / "page.html").write_text(page(title=name))
        (folder / "tree" / name / "metadata.json").write_text(readers)
    yield lambda settings: [FolderSource("it", FolderOptions(path=folder / "tree"), settings)]


@contextmanager
def a_confluence(_: Path, __: pytest.MonkeyPatch) -> Iterator[Sources]:
    with confluence_service.confluence() as site:
        for number, name in (("1", RESTRICTED), ("2", UNREADABLE)):
            site.put(number, name, f"<p>{PROSE}</p>")
        site.restrictions, site.unread = {"1": ["u-ann"]}, {"2"}
        options = ConfluenceOptions(url=site.url, user=confluence_service.USER)
        yield lambda settings: [ConfluenceSource("it", options, settings)]


@contextmanager
def a_sharepoint(_: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Sources]:
    with signed_in(monkeypatch) as identity, sharepoint(identity) as site:
        restricted, unreadable = (
            site.put(f"{name}.html", page(title=name).encode()) for name in (RESTRICTED, UNREADABLE)
        )
        site.permissions[restricted] = [to_group(ANN)]
        site.unread = {unreadable}
        options = SharePointOptions(url=site.site, graph=site.url)
        yield lambda settings: [SharePointSource("it", options, settings)]


@contextmanager
def a_zendesk(_: Path, __: pytest.MonkeyPatch) -> Iterator[Sources]:
    with zendesk_service.help_center() as center:
        center.put(1, RESTRICTED, f"<p>{PROSE}</p>", user_segment_id=7)
        center.put(2, UNREADABLE, f"<p>{PROSE}</p>", user_segment_id=8)
        given = {"url": center.url, "user": zendesk_service.USER, "segments": {"Partners": [ANN]}}
        yield lambda settings: [ZendeskSource("it", ZendeskOptions.model_validate(given), settings)]


@contextmanager
def a_mailbox(folder: Path, _: pytest.MonkeyPatch) -> Iterator[Sources]:
    for name in (RESTRICTED, UNREADABLE):
        message = EmailMessage()
        message["Subject"], message["Message-ID"] = name, f"<{name}@example.org>"
        message.set_content(PROSE)
        (folder / name).mkdir()
        (folder / name / "a.eml").write_bytes(message.as_bytes())

    yield lambda settings: [
        MailboxSource(name.lower(), MailOptions(path=folder / name, readers=readers), settings)
        for name, readers in ((RESTRICTED, (ANN,)), (UNREADABLE, ()))
    ]


SOURCES = {
    "folder": a_folder,
    "confluence": a_confluence,
    "sharepoint": a_sharepoint,
    "zendesk": a_zendesk,
    "mail": a_mailbox,
}


def ingest(settings: Settings) -> None:
    """What ``kb ingest`` does."""
    this = Run("11111111-2222-3333-4444-555555555555", "2026-01-01T00:00:00+00:00")
    ids = sorted(path.name for path in Path(settings.staging).iterdir())
    built = [build_article(settings, each, LAYER_NAMES, this) for each in ids]
    assert [each.error for each in publish(open_workspace(settings), built, LAYER_NAMES, this)] == [None] * len(ids)


def found_by(client: httpx.Client, headers: dict[str, str]) -> set[str]:
    """The titles of the articles that somebody finds."""
    answer = client.get("/api/search", params={"q": PROSE, "top": 50}, headers=headers).raise_for_status()
    return {name for name in (RESTRICTED, UNREADABLE) for each in answer.json()["results"] if name in json.dumps(each)}


@pytest.mark.slow("publishes articles of five sources")
@pytest.mark.parametrize("kind", SOURCES)
def test_only_readers_in_the_source_find_an_article(
    kind: str, settings: Settings, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens = SecretStr(json.dumps({"it": confluence_service.TOKEN}))
    with SOURCES[kind](tmp_path, monkeypatch) as sources:
        for source in sources(settings.model_copy(update={"intake_passwords": tokens})):
            run(source, settings)
    ingest(settings)
    everybody = {
        "Ann": as_user("ann", ANN),
        "one of the staff": as_user("bob", STAFF),
        "one who claims to be nobody": as_user("eve", HIDDEN, "*", ""),
    }
    app = create_app(AppSettings(easy_auth=True), settings)
    with serving_app(app) as url, httpx.Client(base_url=url) as client:
        found = {name: found_by(client, headers) for name, headers in everybody.items()}
    assert found == {"Ann": {RESTRICTED}, "one of the staff": set(), "one who claims to be nobody": set()}
