"""Every setting, once. Read from ``KB_*`` environment variables or a ``.env`` file.

Secrets come from here only and are typed ``SecretStr``, so that no log or error shows them.
"""

import os
from functools import cached_property
from pathlib import Path
from typing import Any

from pydantic import Field, PositiveInt, ValidationError
from pydantic_settings import BaseSettings, SettingsConfigDict

from kb_pipeline.errors import SettingsError


class Settings(BaseSettings):
    """Where things are, and which backends make them."""

    model_config = SettingsConfigDict(env_prefix="KB_", env_file=".env", extra="ignore", frozen=True)

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
    dagster_port: PositiveInt = Field(3000, description="Port of the Dagster UI, on loopback.")

    @cached_property
    def home_path(self) -> Path:
        """The home folder as an absolute path (its local parts: models, Dagster's storage)."""
        return Path(self.home).expanduser().absolute()

    @property
    def worker_count(self) -> int:
        """Number of worker processes, at least 1."""
        return self.workers or len(os.sched_getaffinity(0))


def load_settings(**given: Any) -> Settings:
    """The settings from the environment; what is ``given`` wins.

    Raises:
        SettingsError: a value is not valid; the message names its variable.
    """
    try:
        return Settings(**given)
    except ValidationError as exc:
        problems = (f"KB_{str(error['loc'][0]).upper()}: {error['msg']}" for error in exc.errors())
        raise SettingsError("; ".join(problems)) from exc
