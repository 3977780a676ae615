"""The language model that was chosen while the service runs, in place of the one of the settings; only in memory."""

import asyncio
import logging
from collections.abc import Callable
from urllib.parse import urlsplit

from pydantic import SecretStr

from app.answering.base import Answerer
from app.callers.principal import Principal
from app.errors import AnswerError
from app.schema.models import ModelAddress, ModelChoice, ModelInUse
from app.settings import AppSettings
from kb_pipeline.errors import KnowledgeBaseError, SettingsError
from kb_pipeline.models.openai_client import OPENAI_URL
from kb_pipeline.secrets import credentials_in
from kb_pipeline.services.urls import web_url
from kb_pipeline.services.web.addresses import is_public, resolve

_log = logging.getLogger(__name__)


class NotAnAdministratorError(KnowledgeBaseError):
    """Somebody wants to choose the language model who may not."""


class BadModelError(AnswerError):
    """The address or the key of a model cannot be used."""

    status = 422
    code = "invalid_model"


class ChosenModel:
    """Keeps the answerer of the model that was chosen, if one was. Its key is in no file, log, trace or message."""

    def __init__(self, settings: AppSettings, open_answerer: Callable[[AppSettings], Answerer]) -> None:
        self._settings = settings
        self._open = open_answerer
        self._changing = asyncio.Lock()
        self._retired: list[Answerer] = []
        self._chosen: AppSettings | None = None
        self.answerer: Answerer | None = None

    def may_choose(self, who: Principal, *, is_local: bool) -> bool:
        """Whether somebody may choose the model: who uses this machine, or whom KB_ADMINISTRATORS names."""
        return self._settings.is_operated_by(who, is_local=is_local)

    def check_administrator(self, who: Principal, *, is_local: bool) -> None:
        """Refuse everybody who may not choose the model.

        Raises:
            NotAnAdministratorError: they may not choose.
        """
        if not self.may_choose(who, is_local=is_local):
            raise NotAnAdministratorError(
                "you may not choose the language model; whoever runs the service can name you in KB_ADMINISTRATORS"
            )

    async def settings_for(
        self, address: ModelAddress, *, calls_tools: bool = True, sees_images: bool = True, is_local: bool
    ) -> AppSettings:
        """The settings with this model. From other machines no address can be chosen that only this one reaches.

        Raises:
            BadModelError: the address or the key cannot be used.
        """
        key = address.api_key.get_secret_value().strip()
        try:
            endpoint = web_url("the address", address.endpoint or OPENAI_URL)
        except SettingsError as exc:
            raise BadModelError(str(exc)) from None
        if endpoint == OPENAI_URL and not key:
            raise BadModelError("OpenAI needs a key; it is issued at platform.openai.com")
        if credentials_in(endpoint):
            raise BadModelError("the address holds credentials; leave them out, the key has a field of its own")
        settings = self._settings.with_model(
            endpoint, address.model, SecretStr(key), calls_tools=calls_tools, sees_images=sees_images
        )
        if settings.chat_azure_endpoint and not key:
            raise BadModelError("Azure OpenAI needs a key here; without one, set KB_CHAT_AZURE_ENDPOINT instead")
        try:
            await asyncio.to_thread(self._endpoint, settings)  # imports the model's packages
        except SettingsError as exc:
            raise BadModelError(str(exc)) from None
        if not is_local:
            await _check_public(endpoint)
        return settings

    async def use(self, choice: ModelChoice, who: Principal, *, is_local: bool) -> None:
        """Let this model word the answers to all questions that are asked from now on.

        Raises:
            BadModelError: the address or the key cannot be used.
        """
        settings = await self.settings_for(
            choice, calls_tools=choice.calls_tools, sees_images=choice.sees_images, is_local=is_local
        )
        async with self._changing:
            answerer = await asyncio.to_thread(self._open, settings)
            self._retire()
            self._chosen, self.answerer = settings, answerer
        _log.warning("%r at %s words answers now; %s chose it", choice.model, _host(settings), who.user_id)

    async def forget(self, who: Principal) -> None:
        """Answer as the settings say again."""
        async with self._changing:
            self._retire()
            self._chosen = self.answerer = None
        _log.warning("answers are worded as the settings say again; %s chose it", who.user_id)

    def in_use(self, answerer: Answerer, *, may_choose: bool) -> ModelInUse:
        """What words answers now, of this answerer."""
        settings = self._chosen or self._settings
        return ModelInUse(
            answered_by=answerer.answered_by,
            model=answerer.model,
            endpoint=self._endpoint(settings) if may_choose and answerer.model else "",
            sees_images=answerer.sees_images,
            is_chosen=self._chosen is not None,
            may_choose=may_choose,
        )

    async def close(self) -> None:
        """Close the connections to all models that were chosen."""
        self._retire()
        for answerer in self._retired:
            await answerer.close()

    @staticmethod
    def _endpoint(settings: AppSettings) -> str:
        from app.model.client import chat_endpoint

        return chat_endpoint(settings).url

    def _retire(self) -> None:
        """Keep the present answerer open until the service closes: it may be in the middle of an answer."""
        if self.answerer:
            self._retired.append(self.answerer)


def _host(settings: AppSettings) -> str:
    return urlsplit(settings.chat_azure_endpoint or settings.chat_base_url or "").hostname or ""


async def _check_public(endpoint: str) -> None:
    parts = urlsplit(endpoint)
    try:
        addresses = await resolve(parts.hostname or "", parts.port or 443)
    except (OSError, UnicodeError):
        raise BadModelError(f"{parts.hostname} has no address; check it for typing errors") from None
    if parts.scheme != "https" or not all(map(is_public, addresses)):
        raise BadModelError(
            "only https addresses of the public web can be chosen from another machine; set KB_CHAT_BASE_URL for others"
        )
