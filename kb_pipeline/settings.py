"""Every setting, once. Read from ``KB_*`` environment variables or a ``.env`` file in the current folder.

Secrets come from here only and are typed ``SecretStr``, so that no log or error shows them.
"""

from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import Field, PositiveInt, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings, SettingsConfigDict

from kb_pipeline.errors import SettingsError


class Settings(BaseSettings):
    """Where things are, and which backends make them."""

    model_config = SettingsConfigDict(
        env_prefix="KB_", env_file=".env", extra="ignore", frozen=True, validate_default=True
    )

    staging: str = Field("samples/staging", description="Folder (or URL) that holds one folder per article.")
    home: str = Field(".kb", description="Folder for everything we make: layers, index, models, Dagster's storage.")
    serving: str | None = Field(None, description="Folder (or URL) of the serving layer; default: <home>/serving.")
    analyzer: str = Field("local", description="Turns HTML into markdown and images into descriptions: local.")
    embedder: str = Field("minilm", description="Embedding model: minilm, wordllama (fastest), hashing (no model).")
    index: str = Field("lancedb", description="Search index: lancedb.")
    index_uri: str | None = Field(None, description="Where the index lives; default: <home>/index.")
    chunk_max_tokens: PositiveInt = Field(220, description="Longer sections are split at block borders.")
    chunk_min_tokens: int = Field(24, ge=0, description="Shorter sections are merged into their parent.")
    workers: int = Field(0, ge=0, description="Processes that build articles; 0: one per core.")
    publish_every: PositiveInt = Field(50, description="Articles per index commit and per batch of Dagster events.")
    dagster_port: int = Field(3000, ge=1, le=65535, description="Port of the Dagster UI, on loopback.")

    @field_validator("staging", "home", "serving", "index_uri")
    @classmethod
    def _absolute(cls, value: str | None) -> str | None:
        """Local paths become absolute, because runs may start in another folder; URLs stay."""
        if value is None:
            return None
        local = value.removeprefix("file://")
        return value if "://" in local else str(Path(local).expanduser().absolute())

    @model_validator(mode="after")
    def _tokens_in_order(self) -> "Settings":
        if self.chunk_min_tokens > self.chunk_max_tokens:
            raise ValueError("KB_CHUNK_MIN_TOKENS is larger than KB_CHUNK_MAX_TOKENS")
        return self

    @cached_property
    def home_path(self) -> Path:
        """The home folder as a path (its local parts: models, Dagster's storage)."""
        return Path(self.home)

    @property
    def worker_count(self) -> int:
        """Number of worker processes, at least 1."""
        from loky import cpu_count

        return self.workers or int(cpu_count())


def load_settings(**given: Any) -> Settings:
    """The settings from the environment; what is ``given`` wins.

    Raises:
        SettingsError: a value is not valid; the message names its variable.
    """
    try:
        return Settings(**given)
    except ValidationError as exc:
        problems = (
            ": ".join([*(f"KB_{name}".upper() for name in error["loc"]), error["msg"]]) for error in exc.errors()
        )
        raise SettingsError("; ".join(problems)) from exc
