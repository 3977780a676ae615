"""No secret is in a representation, a log, an error or a file of ours.

Secrets are planted in every setting that takes one, and the services quote back whatever they are sent. What Dagster
records is in ``defs/test_secrets.py``.
"""

import io
import logging
import pickle
import traceback
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from pydantic import SecretStr
from pypdf import PdfWriter

from app.errors import AnswerError
from app.model.client import ChatClient
from app.settings import AppSettings
from kb_pipeline.analyzers import open_analyzer
from kb_pipeline.analyzers.mistral.ocr import MistralOcr
from kb_pipeline.cli.instance import dagster_environment
from kb_pipeline.errors import KnowledgeBaseError, SettingsError, TransientError
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.models import open_embedder
from kb_pipeline.models.openai_vision import OpenAIVision
from kb_pipeline.settings import Settings
from kb_pipeline_tests.conftest import Article, Build
from kb_pipeline_tests.managed_identity import ManagedIdentity
from kb_pipeline_tests.pictures import screenshot
from kb_pipeline_tests.quoting_server import SECRET, quoting_server

WITH_SECRETS = [name for name, field in Settings.model_fields.items() if "SecretStr" in str(field.annotation)]
ENDPOINTS = ("openai_azure_endpoint", "search_endpoint", "content_understanding_endpoint", "mistral_endpoint")


def at(url: str, **given: Any) -> Settings:
    """Settings whose services are all at ``url``."""
    places = {"staging": "abfs://staging@account.dfs.core.windows.net/kb", "index": "azure-ai-search"}
    return Settings(**{**places, "embedder": "openai", **dict.fromkeys(ENDPOINTS, url), **given})


def planted(url: str, **given: Any) -> Settings:
    """The same, with a secret wherever one can be set."""
    blobs = f"DefaultEndpointsProtocol=http;AccountName=account;AccountKey={SECRET};BlobEndpoint={url}/account"
    secrets: dict[str, Any] = dict.fromkeys(WITH_SECRETS, SecretStr(SECRET))
    for role in ("staging", "serving"):  # one of the three
        secrets |= {f"{role}_connection_string": SecretStr(blobs)}
        secrets |= {f"{role}_account_key": None, f"{role}_sas_token": None}
    for passwords in ("document_passwords", "intake_passwords"):
        secrets[passwords] = SecretStr(f'{{"a-name": "{SECRET}"}}')
    return at(url, **secrets, **given)


def a_page() -> bytes:
    writer, sink = PdfWriter(), io.BytesIO()
    writer.add_blank_page(100, 100)
    writer.write(sink)
    return sink.getvalue()


ADAPTERS: dict[str, Callable[[Settings], Any]] = {
    "embeddings": lambda settings: open_embedder(settings).embed(["Blur"]),
    "vision": lambda settings: OpenAIVision(settings).describe(screenshot("a")),
    "search": lambda settings: Workspace(settings).index.search("Blur", mode="keyword"),
    "content-understanding": lambda settings: open_analyzer(
        settings.model_copy(update={"analyzer": "content-understanding"})
    ).describe(screenshot("a")),
    "mistral": lambda settings: MistralOcr(settings).read(a_page()),
}
BLOBS = {"staging": lambda settings: Workspace(settings).staging.list_articles()}


def told_of_failure(ask: Callable[[Settings], Any], settings: Settings) -> str:
    with pytest.raises(KnowledgeBaseError) as raised:
        ask(settings)
    return "".join(traceback.format_exception(raised.value)) + repr(raised.value)


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.usefixtures("no_pauses")
@pytest.mark.parametrize("status", [400, 401, 429])
@pytest.mark.parametrize("adapter", [*ADAPTERS, *BLOBS])
def test_a_key_that_a_service_quotes_is_in_no_error_traceback_or_log(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, adapter: str, status: int
) -> None:
    caplog.set_level(logging.DEBUG)
    with quoting_server(status) as url:
        told = told_of_failure({**ADAPTERS, **BLOBS}[adapter], planted(url, home=str(tmp_path)))
    assert SECRET not in told + caplog.text


@pytest.mark.slow("builds a whole knowledge base")
@pytest.mark.usefixtures("no_pauses")
@pytest.mark.parametrize("status", [400, 401])
@pytest.mark.parametrize("adapter", ADAPTERS)
def test_neither_is_a_token(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, managed_identity: ManagedIdentity, adapter: str, status: int
) -> None:
    caplog.set_level(logging.DEBUG)
    with quoting_server(status) as url:
        told = told_of_failure(ADAPTERS[adapter], at(url, home=str(tmp_path)))
    assert managed_identity.tokens
    assert not [token for token in managed_identity.tokens if token in told + caplog.text]


@pytest.mark.slow("builds a whole knowledge base")
def test_a_signature_for_lancedb_is_in_no_error_or_traceback(monkeypatch: pytest.MonkeyPatch) -> None:
    with quoting_server(403) as url:
        for name, value in {
            "ACCOUNT_NAME": "account",
            "SAS_TOKEN": f"sv=2026&sig={SECRET}",
            "ENDPOINT": f"{url}/account",
            "ALLOW_HTTP": "true",
        }.items():
            monkeypatch.setenv(f"AZURE_STORAGE_{name}", value)
        told = told_of_failure(lambda settings: Workspace(settings).catalog.live(), Settings(index_uri="az://kb/index"))
    assert "the search index at az://kb/index: " in told
    assert not [form for form in (SECRET, quote(SECRET, safe="")) if form in told]


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://kb:pl@nted-secret@127.0.0.1:9/kb",
        "postgresql://kb:pl/nted-secret@127.0.0.1:9/kb",
        "postgresql://kb:pl#nted-secret@127.0.0.1:9/kb",
        "postgresql://kb:pl:nted-secret@127.0.0.1:9/kb",
        "host=127.0.0.1 password=nted-secret",
    ],
)
def test_a_password_that_postgresql_would_take_for_a_host_is_refused(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, url: str
) -> None:
    monkeypatch.setenv("KB_POSTGRES_URL", url)
    with pytest.raises(SettingsError, match=r"KB_POSTGRES_URL is malformed; .*percent-encoded") as refused:
        dagster_environment(settings)
    assert "nted-secret" not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://kb:p%40ss@db.example:5432/kb",
        "postgresql+psycopg2://kb@db/kb?sslmode=require&options=-c%20a%3Db",
        "postgresql:///kb?host=/run/postgresql",
        "postgres://kb:p@[::1]:5432/kb",
        "postgresql://kb:p@one:5432,two:5432/kb",
    ],
)
def test_other_addresses_of_postgresql_are_good(settings: Settings, monkeypatch: pytest.MonkeyPatch, url: str) -> None:
    monkeypatch.setenv("KB_POSTGRES_URL", url)
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    assert dagster_environment(settings)


@pytest.mark.parametrize("kind", [KnowledgeBaseError, SettingsError, TransientError, AnswerError])
def test_an_error_of_ours_repeats_no_password_of_an_address(kind: type[KnowledgeBaseError]) -> None:
    problem = kind(f"postgresql://kb:{SECRET}@db/kb did not answer GET /c?sv=1&sig={quote(SECRET, safe='')}")
    assert str(problem) == "postgresql://kb:***@db/kb did not answer GET /c?sv=1&sig=***"
    assert str(pickle.loads(pickle.dumps(problem))) == str(problem)
    assert SECRET not in repr(problem)


def ours(value: object, seen: set[int]) -> Iterator[object]:
    """An object of ours and all that it holds."""
    if id(value) not in seen and type(value).__module__.startswith(("kb_pipeline", "app")):
        seen.add(id(value))
        yield value
        for held in getattr(value, "__dict__", {}).values():
            yield from ours(held, seen)


def test_no_representation_shows_a_secret(tmp_path: Path) -> None:
    settings = planted("http://127.0.0.1:9", home=str(tmp_path))
    workspace = Workspace(settings)
    app = AppSettings(chat_model="m", chat_api_key=SECRET, openai_api_key=SECRET, cosmos_key=SECRET)
    analyzers = [
        open_analyzer(settings.model_copy(update={"analyzer": name}))
        for name in ("content-understanding", "mistral-doc-ai")
    ]
    opened = [workspace.staging, workspace.embedder, workspace.catalog, workspace, *analyzers, app, ChatClient(app)]
    for part in (part for thing in opened for part in ours(thing, set())):
        assert SECRET not in f"{part!r} {part}", type(part)
    assert SECRET not in settings.model_dump_json() + app.model_dump_json()


def test_no_secret_is_in_what_a_failed_article_leaves_behind(
    settings: Settings, article: Article, build_here: Build
) -> None:
    article("layers", "<h1>Layers</h1><p>Crop a layer to what it shows.</p>")
    with quoting_server(401) as url:
        given = {"embedder": "openai", "openai_azure_endpoint": url, "openai_api_key": SecretStr(SECRET)}
        found = build_here(**given)["layers"]
    assert found.failed_layer == "chunk_embeddings"
    assert "check KB_OPENAI_API_KEY" in str(found.error)
    written = [path.read_bytes() for path in settings.home_path.rglob("*") if path.is_file()]
    assert any(b"KB_OPENAI_API_KEY" in content for content in written)
    assert not any(SECRET.encode() in content for content in [*written, repr(found).encode()])
