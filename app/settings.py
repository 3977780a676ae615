"""The settings of the agent service and the chat page. Those of the knowledge base are in ``kb_pipeline.settings``.

They are read from ``KB_*`` environment variables or a ``.env`` file in the current folder, secrets included.
"""

from dataclasses import replace
from typing import Annotated, Any, Literal
from urllib.parse import urlsplit

from pydantic import AliasChoices, Field, PositiveInt, PrivateAttr, SecretStr, model_validator
from pydantic_settings import SettingsConfigDict

from app.callers.principal import ACCESS_CLAIMS, Principal
from app.schema.passages import CitationStyle
from kb_pipeline.services.urls import LOOPBACK, is_private
from kb_pipeline.settings import Address, Names, Settings, SharedSettings, listed, load
from kb_pipeline.web.guard import check_host, check_origin

_OF_AZURE = (".openai.azure.com", ".cognitiveservices.azure.com", ".services.ai.azure.com")

_AGENT_SCOPE = "https://ai.azure.com/.default"

AnsweringMode = Literal["agent", "retrieve-first", "extractive"]


def _web_host(name: str) -> str:
    return name if name == "*" else "*." + check_host(name[2:]) if name.startswith("*.") else check_host(name)


Origins = Annotated[tuple[str, ...], listed(check_origin)]
WebHosts = Annotated[tuple[str, ...], listed(_web_host)]


class AppSettings(SharedSettings):
    """Settings of answering, of conversations, and of the servers."""

    model_config = SettingsConfigDict(populate_by_name=True)

    app_host: Address = Field(
        "127.0.0.1", description="Address that the agent service listens on; 0.0.0.0 in a container."
    )
    app_port: int = Field(8088, ge=1, le=65535, description="Port of the agent service.")
    page_port: int = Field(8501, ge=1, le=65535, description="Port of the chat page on loopback.")
    one_port: bool = Field(
        False, description="The agent service serves the chat page as well, in its process and on its port."
    )
    app_url: Address | None = Field(
        None, description="URL at which the page reaches the agent service; default: its host and port."
    )
    agent_endpoint: Address | None = Field(
        None,
        validation_alias=AliasChoices("KB_AGENT_ENDPOINT", "AGENT_ENDPOINT"),
        description="Agent that answers the page's questions instead of the agent service: the URL before /responses "
        "of a hosted agent of Foundry, or of another service that speaks the Responses protocol; default: none.",
    )
    agent_scope: Address | None = Field(
        None,
        description="Scope of the token for an https KB_AGENT_ENDPOINT, from DefaultAzureCredential; default: "
        "https://ai.azure.com/.default for one on Azure, else no token.",
    )
    dagster_url: Address | None = Field(
        None, description="URL at which readers reach the Dagster UI; default: KB_DAGSTER_PORT on loopback."
    )

    chat_model: str | None = Field(
        None, description="Model that words answers (on Azure: its deployment); default: none, answers are extractive."
    )
    chat_base_url: Address | None = Field(
        None, description="OpenAI-compatible endpoint of the model; default: KB_OPENAI_BASE_URL."
    )
    chat_azure_endpoint: Address | None = Field(
        None, description="Azure OpenAI resource of the model: https://NAME.openai.azure.com."
    )
    chat_api_version: str | None = Field(None, description="Azure OpenAI API version; default: its v1 API.")
    chat_api_key: SecretStr | None = Field(
        None, description="API key of the model's endpoint; default on Azure: DefaultAzureCredential."
    )
    answering: AnsweringMode | None = Field(
        None, description="agent (the model searches), retrieve-first (one search, one call), extractive (no model)."
    )
    planning: Literal["auto", "off"] = Field(
        "auto",
        description="auto: questions about whole documents are answered by a plan, and it is asked back which one is "
        "meant; off: every question is a search for passages.",
    )
    judge: str | None = Field(
        None,
        description="Compares what a model states with the passages that it cites: none, chat (the model, in one more "
        "call an answer), onnx/FOLDER (an entailment model); default: chat with a model, else none.",
    )
    chat_timeout_seconds: float = Field(
        30, gt=0, description="Longest silence of the model, or of another service during an answer."
    )
    search_rounds: PositiveInt = Field(4, description="Searches that the agent may make for one answer.")
    search_top: int = Field(5, ge=1, le=50, description="Passages that a search returns.")
    history_tokens: PositiveInt = Field(120_000, description="Tokens of the conversation that the model receives.")

    vision: bool = Field(True, description="Send screenshots to the model; false: only their descriptions.")
    vision_images: int = Field(8, ge=0, description="Maximum number of images sent for one answer.")

    citation_style: CitationStyle = Field(
        "ref", description="How answers refer to passages: ref ([Ref #3]), source ((Source: manual.pdf, S. 12))."
    )
    serve_documents: bool = Field(
        True, description="Let readers open the original files of documents; false: only pictures of their pages."
    )

    image_urls: Literal["proxy", "sas"] = Field(
        "proxy",
        description="Addresses of pictures in what tools return to programs: proxy (of this service, which checks who "
        "asks), sas (links to KB_SERVING on Azure, by which anybody reads one picture for an hour).",
    )
    tools: Names = Field(
        (), description='Tools of your own for models and programs, as JSON: ["package.module:Class"].'
    )
    web_search: str = Field(
        "off",
        description="Where answers may look on the web: off, learn (Microsoft Learn), searxng (an instance of yours), "
        "local (a folder of saved pages).",
    )
    web_url: Address | None = Field(
        None, description="Address of the SearXNG instance, or another one for Learn's search."
    )
    web_hosts: WebHosts = Field(
        (),
        description="Hosts whose pages may be fetched, separated by commas, *.example.com for all below one; default: "
        "learn.microsoft.com for learn, every public one for searxng.",
    )
    web_folder: Address = Field("samples/web", description="Folder of saved pages for local.")
    web_seconds: float = Field(10, gt=0, description="Longest time of a search on the web, and of fetching a page.")

    runs_at_once: PositiveInt = Field(
        8, description="Most investigations of alerts at the same time; further ones are refused with 503."
    )
    investigating: Literal["rules", "agents"] = Field(
        "rules",
        description="How alerts are investigated: rules (without a model), agents (the model asks specialists, and "
        "gets what the rules found as evidence).",
    )
    run_attempts: int = Field(
        2, ge=1, le=5, description="Runs of the agents for one alert before the report is made by rules."
    )
    run_seconds: float = Field(300, gt=0, description="Longest time of an investigation, in seconds.")

    conversations: str = Field("sqlite", description="Store of conversations: sqlite, cosmos.")
    cosmos_endpoint: Address | None = Field(
        None, description="Azure Cosmos DB account: https://NAME.documents.azure.com."
    )
    cosmos_key: SecretStr | None = Field(None, description="Key of the account; default: DefaultAzureCredential.")
    cosmos_database: str = Field("kb", description="Database of the conversations.")
    cosmos_container: str = Field(
        "conversations", description="Container of the conversations, with partition key /userId."
    )

    easy_auth: bool = Field(
        False, description="Trust the X-MS-CLIENT-PRINCIPAL headers of Azure's Easy Auth; set it only behind Easy Auth."
    )
    token_issuer: Address | None = Field(
        None,
        description="Issuer of the access tokens that callers of the agent service must send: "
        "https://login.microsoftonline.com/TENANT/v2.0, or another one with OpenID Connect discovery; default: none.",
    )
    token_audience: Address = Field(
        "", description="For whom these tokens are made: the client id of the app registration of the agent service."
    )
    app_scope: Address = Field(
        "",
        description="Scope of the access token that the page gets by DefaultAzureCredential and sends to the agent "
        "service: api://CLIENT-ID/.default; default: no token.",
    )
    cors_origins: Origins = Field(
        (),
        description="Sites whose pages may call the agent service from a browser, separated by commas: "
        "https://portal.example.com; default: none.",
    )
    widget_origins: Origins = Field(
        (),
        description="Sites whose pages may embed the widget, separated by commas: https://help.example.com; visitors "
        "who do not sign in there get answers from what everybody may read; default: none, and the widget is off.",
    )
    access_claims: Names = Field(
        ACCESS_CLAIMS,
        description="Claims of Easy Auth or of tokens whose values are names in access control lists, as JSON: "
        '["groups", "roles"].',
    )
    local_user: str = Field(
        "",
        max_length=200,
        validation_alias=AliasChoices("KB_LOCAL_USER", "RAG_USER_ID"),
        description="Name in access control lists of whoever asks on this machine; without effect behind Easy Auth or "
        "if the service listens on other addresses. Also RAG_USER_ID.",
    )
    local_department: str = Field(
        "",
        validation_alias=AliasChoices("KB_LOCAL_DEPARTMENT", "RAG_DEPARTMENT"),
        description="Their department, which is such a name as well. Also RAG_DEPARTMENT.",
    )
    local_org: str = Field(
        "",
        validation_alias=AliasChoices("KB_LOCAL_ORG", "RAG_ORG_ID"),
        description="Their organisation, which is such a name as well. Also RAG_ORG_ID.",
    )
    administrators: Names = Field(
        (),
        description="Users and groups who run the service: they choose the language model on the page and see the "
        'scores of searches, as whoever uses this machine does. As JSON: ["ann@example.com"].',
    )
    request_bytes: PositiveInt = Field(262_144, description="Maximum size of a request, in bytes.")
    question_characters: PositiveInt = Field(8_000, description="Maximum length of a question, in characters.")
    picture_bytes: int = Field(
        5_000_000, ge=0, description="Maximum size of a picture that somebody asks with, in bytes; 0: none can be sent."
    )
    record_content: bool = Field(False, description="Record questions and answers in traces.")
    whole_questions: bool = Field(
        False,
        description="Keep what was not answered also as it was written, with the names in it: reviewers can see whole "
        "messages of knowledge gaps. Otherwise only their questions are kept, masked.",
    )

    _is_model_chosen: bool = PrivateAttr(False)

    @model_validator(mode="after")
    def _complete(self) -> "AppSettings":
        if self.answering in ("agent", "retrieve-first") and not self.chat_model:
            raise ValueError(f"KB_ANSWERING is {self.answering}, which needs a model; set KB_CHAT_MODEL")
        if self.investigating == "agents" and not self.chat_model:
            raise ValueError("KB_INVESTIGATING is agents, which needs a model; set KB_CHAT_MODEL")
        if self.judge == "chat" and not self.chat_model:
            raise ValueError("KB_JUDGE is chat, which needs a model; set KB_CHAT_MODEL")
        if self.chat_base_url and self.chat_azure_endpoint:
            raise ValueError("KB_CHAT_BASE_URL and KB_CHAT_AZURE_ENDPOINT name two endpoints; set one of them")
        if self.openai_base_url and self.openai_azure_endpoint:
            raise ValueError("KB_OPENAI_BASE_URL and KB_OPENAI_AZURE_ENDPOINT name two endpoints; set one of them")
        self._check_sign_in()
        if self.one_port and self.app_url:
            raise ValueError("KB_ONE_PORT: the page asks the service that serves it; unset KB_APP_URL")
        if self.conversations == "cosmos" and not self.cosmos_endpoint:
            raise ValueError("KB_CONVERSATIONS is cosmos, which needs an account; set KB_COSMOS_ENDPOINT")
        return self

    def _check_sign_in(self) -> None:
        if self.token_issuer and not self.token_audience:
            raise ValueError("KB_TOKEN_ISSUER needs to know for whom tokens are made; set KB_TOKEN_AUDIENCE")
        if self.token_issuer and self.easy_auth:
            raise ValueError(
                "KB_EASY_AUTH believes headers of everybody, KB_TOKEN_ISSUER those beside the page's token; set one"
            )
        if self.token_issuer and self.one_port:
            raise ValueError(
                "KB_TOKEN_ISSUER wants a token with every request, and browsers send none for the pictures of a page; "
                "serve the page on a port of its own, without KB_ONE_PORT"
            )
        if self.token_issuer and not is_private(self.token_issuer):
            raise ValueError("KB_TOKEN_ISSUER: keys must come by https; write https://...")
        if self.app_scope and not is_private(self.service_url):
            raise ValueError("KB_APP_SCOPE sends a token, and KB_APP_URL is not https; write https://...")
        if self.agent_endpoint and urlsplit(self.agent_endpoint).scheme not in ("http", "https"):
            raise ValueError("KB_AGENT_ENDPOINT must begin with https:// or http://")
        if self.agent_scope and not (self.agent_endpoint or "").startswith("https://"):
            raise ValueError("KB_AGENT_SCOPE sends a token, and KB_AGENT_ENDPOINT is not https; write https://...")

    @property
    def mode(self) -> AnsweringMode:
        """How questions are answered; without a setting it depends on whether there is a model."""
        return self.answering or ("agent" if self.chat_model else "extractive")

    @property
    def is_model_chosen(self) -> bool:
        """Whether somebody chose the model while the service runs."""
        return self._is_model_chosen

    def with_model(
        self, endpoint: str, model: str, key: SecretStr, *, calls_tools: bool = True, sees_images: bool = True
    ) -> "AppSettings":
        """These settings with another chat model, which is sent this key and no other."""
        on_azure = (urlsplit(endpoint).hostname or "").endswith(_OF_AZURE)
        chosen = self.model_copy(
            update={
                "chat_model": model,
                "chat_azure_endpoint": endpoint if on_azure else None,
                "chat_base_url": None if on_azure else endpoint,
                "chat_api_version": None,
                "chat_api_key": key,
                "answering": "agent" if calls_tools else "retrieve-first",
                "vision": sees_images,
            }
        )
        chosen._is_model_chosen = True
        return chosen

    @property
    def is_only_local(self) -> bool:
        """Whether nobody but the user of this machine can reach the service."""
        return not (self.easy_auth or self.token_issuer) and self.app_host in LOOPBACK

    @property
    def local_principal(self) -> Principal:
        """Who asks where nobody signs in: somebody with a name only if nobody else can reach the service."""
        if not self.is_only_local:
            return Principal()
        return replace(Principal.of(self.local_user, self.local_department, self.local_org), is_operator=True)

    def is_operated_by(self, who: Principal, *, is_local: bool) -> bool:
        """Whether somebody runs this service: who uses this machine, or whom KB_ADMINISTRATORS names."""
        return is_local or not {who.user_id, *who.names}.isdisjoint(self.administrators)

    @property
    def listening_url(self) -> str:
        """The URL of the agent service on this machine."""
        host = "127.0.0.1" if self.app_host in ("0.0.0.0", "::") else self.app_host  # noqa: S104  (compared, not bound)
        return f"http://{f'[{host}]' if ':' in host else host}:{self.app_port}"

    @property
    def service_url(self) -> str:
        """The URL of the agent service for the page."""
        return (self.app_url or self.listening_url).rstrip("/")

    @property
    def agent_token_scope(self) -> str:
        """The scope of the token for the agent elsewhere; "" if none is sent."""
        return self.agent_scope or (_AGENT_SCOPE if self.is_agent_on_azure else "")

    @property
    def is_agent_on_azure(self) -> bool:
        """Whether the agent elsewhere is one of Foundry."""
        parts = urlsplit(self.agent_endpoint or "")
        return parts.scheme == "https" and (parts.hostname or "").endswith(_OF_AZURE)

    def dagster_url_of(self, settings: Settings) -> str:
        """The URL of the Dagster UI for readers."""
        return (self.dagster_url or f"http://127.0.0.1:{settings.dagster_port}").rstrip("/")


def load_app_settings(**given: Any) -> AppSettings:
    """The settings from the environment; ``given`` values take precedence.

    Raises:
        SettingsError: a value is not valid; the message names its variable.
    """
    return load(AppSettings, given)
