"""Every setting, once. Read from ``KB_*`` environment variables or a ``.env`` file in the current folder.

Secrets come from here only and are typed ``SecretStr``, so that no log or error shows them.
"""

import os
from pathlib import Path
from typing import Any

from pydantic import Field, PositiveInt, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from kb_pipeline.errors import SettingsError
from kb_pipeline.records import Price

Deployments = tuple[tuple[str, str], ...]
FieldNames = tuple[tuple[str, str], ...]
"""Pairs, because settings are hashable."""


FROM_ENVIRONMENT = SettingsConfigDict(
    env_prefix="KB_",
    env_file=".env",
    extra="ignore",
    frozen=True,
    validate_default=True,
    str_strip_whitespace=True,  # a secret that is mounted as a file ends with a line break
    hide_input_in_errors=True,  # it may be a secret
)
"""How settings are read, ours and the app's."""


class Settings(BaseSettings):
    """Where things are, and which backends make them."""

    model_config = FROM_ENVIRONMENT

    staging: str = Field("samples/staging", description="Folder (or URL) that holds one folder per article.")
    home: str = Field(".kb", description="Folder for everything we make: layers, index, models, Dagster's storage.")
    serving: str | None = Field(None, description="Folder (or URL) of the serving layer; default: <home>/serving.")
    analyzer: str = Field(
        "local", description="HTML to markdown, image to description: local, content-understanding, mistral-doc-ai."
    )
    embedder: str = Field(
        "minilm",
        description="Embedding model: minilm, wordllama (fastest), hashing (no model), onnx/FOLDER, openai/MODEL.",
    )
    index: str = Field("lancedb", description="Search index: lancedb, azure-ai-search.")
    index_uri: str | None = Field(None, description="Where LanceDB's index lives; default: <home>/index.")
    evaluation: str | None = Field(
        None,
        description="Folder of question sets (*.jsonl) that measure the knowledge base; default: <home>/evaluation.",
    )
    chunk_max_tokens: PositiveInt = Field(220, description="Longer sections are split at block borders.")
    chunk_min_tokens: int = Field(24, ge=0, description="Shorter sections are merged into their parent.")
    engine: str = Field("local", description="What builds articles: local (worker processes), ray (a cluster).")
    workers: int = Field(0, ge=0, description="Processes of the local engine that build articles; 0: one per core.")
    ray_address: str | None = Field(
        None,
        description="Ray cluster: host:6379 or ray://host:10001; default: the one this machine is a node of.",
    )
    ray_task_cpus: float = Field(
        1, gt=0, description="CPUs reserved for an article; 0.25 builds four at once on each, to wait for services."
    )
    attempts: PositiveInt = Field(3, description="Tries of an article within a run when a service is busy or away.")
    keep_versions: PositiveInt = Field(5, description="Published versions of an article that can be put back.")
    keep_generation_days: int = Field(7, ge=0, description="Days in which a replaced index can be returned to.")
    advisory_checks: tuple[str, ...] = Field((), description='Checks that only warn, as JSON: ["no_markup_leaked"].')
    prices: tuple[Price, ...] = Field(
        (), description='What models cost, as JSON: {"gpt-4.1": {"input_tokens": 2, "output_tokens": 8}}.'
    )
    publish_every: PositiveInt = Field(50, description="Articles per index commit and per batch of Dagster events.")
    watch: bool = Field(True, description="Watch the staging folder and ingest what changes; false: only when asked.")
    batch_articles: PositiveInt = Field(500, description="Articles per run that watching the staging folder starts.")
    batches_ahead: PositiveInt = Field(2, description="Such runs that may be waiting or running at once.")
    watch_seconds: PositiveInt = Field(30, description="Seconds between two looks at the staging folder.")
    settle_seconds: float = Field(5, ge=0, description="A folder changed more recently may still be being copied.")
    delete_grace_seconds: float = Field(3600, ge=0, description="How long an article must be missing to be removed.")
    delete_max_share: float = Field(
        0.2, ge=0, le=1, description="If more of the articles are missing, a person must confirm their removal."
    )

    staging_connection_string: SecretStr | None = Field(
        None, description="Of the storage account of an abfs:// KB_STAGING; without any: DefaultAzureCredential."
    )
    staging_account_key: SecretStr | None = Field(None, description="Its account key, instead.")
    staging_sas_token: SecretStr | None = Field(None, description="A shared access signature for it, instead.")
    serving_connection_string: SecretStr | None = Field(
        None, description="Of the storage account of an abfs:// KB_SERVING; without any: DefaultAzureCredential."
    )
    serving_account_key: SecretStr | None = Field(None, description="Its account key, instead.")
    serving_sas_token: SecretStr | None = Field(None, description="A shared access signature for it, instead.")

    openai_azure_endpoint: str | None = Field(None, description="Azure OpenAI resource: https://NAME.openai.azure.com.")
    openai_base_url: str | None = Field(None, description="Other OpenAI-compatible endpoint; default: OpenAI's own.")
    openai_api_version: str | None = Field(None, description="Azure OpenAI API version; default: its v1 API.")
    openai_api_key: SecretStr | None = Field(
        None, description="Key of the endpoint; on Azure without one: DefaultAzureCredential."
    )
    openai_deployments: Deployments = Field(
        (), description='Deployments not named like their model, as JSON: {"gpt-4.1": "my-vision"}.'
    )
    vision_model: str = Field("gpt-4.1", description="Model that describes images for mistral-doc-ai.")

    search_endpoint: str | None = Field(None, description="Azure AI Search service: https://NAME.search.windows.net.")
    search_api_key: SecretStr | None = Field(None, description="Its admin key; without one: DefaultAzureCredential.")
    search_alias: str = Field("kb-articles", description="Alias that readers search; indexes are named after it.")
    search_index: str | None = Field(None, description="Index of somebody else's to search, read-only, instead.")
    search_fields: FieldNames = Field(
        (), description='Its fields where they are named otherwise, as JSON: {"id": "chunkId"}.'
    )
    search_semantic: bool = Field(False, description="Have hybrid searches reranked by the semantic ranker.")
    search_quantization: bool = Field(False, description="Keep vectors in the index as 8-bit integers.")
    search_vectorizer: bool = Field(
        False, description="Let the service embed questions, by KB_OPENAI_AZURE_ENDPOINT and its own identity."
    )

    content_understanding_endpoint: str | None = Field(
        None, description="Foundry resource: https://NAME.services.ai.azure.com."
    )
    content_understanding_api_key: SecretStr | None = Field(
        None, description="Its key; without one: DefaultAzureCredential."
    )
    mistral_endpoint: str | None = Field(
        None, description="Foundry resource with Mistral Document AI: https://NAME.services.ai.azure.com."
    )
    mistral_api_key: SecretStr | None = Field(None, description="Its key; without one: DefaultAzureCredential.")
    mistral_model: str = Field("mistral-document-ai-2512", description="Its deployment of the OCR model.")
    service_timeout_seconds: float = Field(120, gt=0, description="Longest wait for one answer of a paid service.")

    dagster_port: int = Field(3000, ge=1, le=65535, description="Port of the Dagster UI, on loopback.")

    @field_validator("staging", "home", "serving", "index_uri", "evaluation")
    @classmethod
    def _absolute(cls, value: str | None) -> str | None:
        """Local paths become absolute, because runs may start in another folder; URLs stay."""
        if value is None:
            return None
        local = value.removeprefix("file://")
        return value if "://" in local else str(Path(local).expanduser().absolute())

    @field_validator("openai_deployments", "search_fields", mode="before")
    @classmethod
    def _pairs(cls, value: object) -> object:
        """A mapping becomes its pairs."""
        return tuple(value.items()) if isinstance(value, dict) else value

    @field_validator("prices", mode="before")
    @classmethod
    def _named(cls, value: object) -> object:
        """A mapping by model becomes a list of prices."""
        if not isinstance(value, dict):
            return value
        return [{"model": model, **price} if isinstance(price, dict) else price for model, price in value.items()]

    @model_validator(mode="after")
    def _tokens_in_order(self) -> "Settings":
        if self.chunk_min_tokens > self.chunk_max_tokens:
            raise ValueError("KB_CHUNK_MIN_TOKENS is larger than KB_CHUNK_MAX_TOKENS")
        return self

    @model_validator(mode="after")
    def _apart(self) -> "Settings":
        """What we make, replace and remove never lies among the sources, nor they among it."""
        for name, place in (("KB_HOME", self.home), ("KB_SERVING", self.serving), ("KB_INDEX_URI", self.index_uri)):
            if place and _overlap(self.staging, place):
                raise ValueError(
                    f"{name} is {place} and KB_STAGING is {self.staging}, one inside the other: sources and what is "
                    f"made of them would be taken for each other; choose folders that are apart, or a {name} whose "
                    "name begins with a dot, directly in KB_STAGING"
                )
        return self

    @property  # a cached one would travel into copies with another home
    def home_path(self) -> Path:
        """The home folder as a path (its local parts: models, locks, Dagster's storage)."""
        return Path(self.home)

    @property
    def evaluation_path(self) -> Path:
        """The folder of question sets; what was measured with them stays in the home folder."""
        return Path(self.evaluation) if self.evaluation else self.home_path / "evaluation"

    @property
    def worker_count(self) -> int:
        """Number of worker processes, at least 1."""
        from loky import cpu_count

        return self.workers or int(cpu_count())


def _overlap(staging: str, ours: str) -> bool:
    """Whether one of two local folders would be seen in the other; a hidden one in the staging folder is not."""
    if "://" in staging or "://" in ours:
        return False  # seen when they are opened: two URLs may name one container
    sources, made = Path(os.path.realpath(staging)), Path(os.path.realpath(ours))
    if sources.is_relative_to(made):
        return True
    return made.is_relative_to(sources) and not made.relative_to(sources).parts[0].startswith(".")


def load_settings(**given: Any) -> Settings:
    """The settings from the environment; what is ``given`` wins.

    Raises:
        SettingsError: a value is not valid; the message names its variable.
    """
    try:
        return Settings(**given)
    except ValidationError as exc:
        raise SettingsError(explain_invalid(exc)) from exc


def explain_invalid(problem: ValidationError) -> str:
    """Which variables are not valid, and why."""
    return "; ".join(
        ": ".join([*(f"KB_{name}".upper() for name in error["loc"]), error["msg"].removeprefix("Value error, ")])
        for error in problem.errors()
    )
