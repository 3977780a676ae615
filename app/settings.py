"""Every setting of the agent service and the chat page, once; those of the knowledge base are ``kb_pipeline.settings``.

Read from ``KB_*`` environment variables or a ``.env`` file in the current folder. Secrets come from here only.
"""

from typing import Any, Literal

from pydantic import Field, PositiveInt, SecretStr, ValidationError, field_validator, model_validator
from pydantic_settings import BaseSettings

from kb_pipeline.errors import SettingsError
from kb_pipeline.settings import FROM_ENVIRONMENT, Deployments, Settings, explain_invalid

AnsweringMode = Literal["agent", "retrieve-first", "extractive"]


class AppSettings(BaseSettings):
    """How questions are answered, and where that is served."""

    model_config = FROM_ENVIRONMENT

    app_host: str = Field("127.0.0.1", description="Address of the agent service; 0.0.0.0 in a container.")
    app_port: int = Field(8088, ge=1, le=65535, description="Port of the agent service.")
    page_port: int = Field(8501, ge=1, le=65535, description="Port of the chat page, on loopback.")
    app_url: str | None = Field(None, description="The service as the page reaches it; default: its host and port.")
    dagster_url: str | None = Field(None, description="The Dagster UI as readers reach it; default: KB_DAGSTER_PORT.")

    chat_model: str | None = Field(None, description="Model (on Azure: deployment); none: answers are extractive.")
    chat_base_url: str | None = Field(None, description="OpenAI-compatible endpoint; default: see KB_OPENAI_BASE_URL.")
    chat_azure_endpoint: str | None = Field(None, description="Azure OpenAI resource: https://NAME.openai.azure.com.")
    chat_api_version: str | None = Field(None, description="Azure OpenAI API version; default: its v1 API.")
    chat_api_key: SecretStr | None = Field(None, description="Its key; on Azure without one: DefaultAzureCredential.")
    openai_azure_endpoint: str | None = Field(
        None, description="Azure OpenAI resource of the knowledge base; used if no KB_CHAT_ endpoint or key is set."
    )
    openai_base_url: str | None = Field(
        None, description="Its other OpenAI-compatible endpoint, used likewise; default: OpenAI's own."
    )
    openai_api_version: str | None = Field(None, description="API version of the former.")
    openai_api_key: SecretStr | None = Field(None, description="Key of either; never sent to a KB_CHAT_ endpoint.")
    openai_deployments: Deployments = Field(
        (), description='Deployments there not named like their model, as JSON: {"gpt-4.1": "my-chat"}.'
    )
    answering: AnsweringMode | None = Field(
        None, description="agent (the model searches), retrieve-first (small models), extractive (no model)."
    )
    chat_timeout_seconds: float = Field(30, gt=0, description="Longest silence of a model or another service.")
    search_rounds: PositiveInt = Field(4, description="Searches that the agent may do for one answer.")
    search_top: int = Field(5, ge=1, le=50, description="Passages that a search returns.")
    history_tokens: PositiveInt = Field(120_000, description="Tokens of a conversation that the model is given.")

    vision: bool = Field(True, description="Whether the model sees images; false: it reads their descriptions.")
    vision_images: int = Field(8, ge=0, description="Most images that the model is shown for one answer.")
    vision_bytes: PositiveInt = Field(4_000_000, description="Most bytes of them, after scaling down.")
    vision_pixels: PositiveInt = Field(1536, description="Longest side of an image that the model is shown.")

    conversations: str = Field("sqlite", description="Where conversations are kept: sqlite, cosmos.")
    cosmos_endpoint: str | None = Field(None, description="Azure Cosmos DB account: https://NAME.documents.azure.com.")
    cosmos_key: SecretStr | None = Field(None, description="Its key; without one: DefaultAzureCredential.")
    cosmos_database: str = Field("kb", description="Database of the conversations.")
    cosmos_container: str = Field("conversations", description="Container of the conversations, by /userId.")

    easy_auth: bool = Field(False, description="Behind Azure's Easy Auth: believe its X-MS-CLIENT-PRINCIPAL headers.")
    request_bytes: PositiveInt = Field(262_144, description="Longest request that is read.")
    question_characters: PositiveInt = Field(8_000, description="Longest question.")
    record_content: bool = Field(False, description="Record questions and answers in traces.")

    @field_validator("openai_deployments", mode="before")
    @classmethod
    def _pairs(cls, value: object) -> object:
        """A mapping becomes its pairs."""
        return tuple(value.items()) if isinstance(value, dict) else value

    @model_validator(mode="after")
    def _complete(self) -> "AppSettings":
        if self.answering in ("agent", "retrieve-first") and not self.chat_model:
            raise ValueError(f"KB_ANSWERING is {self.answering}, which needs a model; set KB_CHAT_MODEL")
        if self.chat_base_url and self.chat_azure_endpoint:
            raise ValueError("KB_CHAT_BASE_URL and KB_CHAT_AZURE_ENDPOINT name two endpoints; set one of them")
        if self.openai_base_url and self.openai_azure_endpoint:
            raise ValueError("KB_OPENAI_BASE_URL and KB_OPENAI_AZURE_ENDPOINT name two endpoints; set one of them")
        if self.conversations == "cosmos" and not self.cosmos_endpoint:
            raise ValueError("KB_CONVERSATIONS is cosmos, which needs an account; set KB_COSMOS_ENDPOINT")
        return self

    @property
    def mode(self) -> AnsweringMode:
        """How questions are answered, where it was not said."""
        return self.answering or ("agent" if self.chat_model else "extractive")

    @property
    def listening_url(self) -> str:
        """The agent service on this machine."""
        host = "127.0.0.1" if self.app_host in ("0.0.0.0", "::") else self.app_host  # noqa: S104  (compared, not bound)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.app_port}"

    @property
    def service_url(self) -> str:
        """The agent service as the page reaches it."""
        return (self.app_url or self.listening_url).rstrip("/")

    def dagster_url_of(self, settings: Settings) -> str:
        """The Dagster UI as readers reach it."""
        return (self.dagster_url or f"http://127.0.0.1:{settings.dagster_port}").rstrip("/")


def load_app_settings(**given: Any) -> AppSettings:
    """The settings from the environment; what is ``given`` wins.

    Raises:
        SettingsError: a value is not valid; the message names its variable.
    """
    try:
        return AppSettings(**given)
    except ValidationError as exc:
        raise SettingsError(explain_invalid(exc)) from exc
