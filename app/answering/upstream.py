"""What can go wrong between us and a model, as a reader is told it."""

import json
from collections.abc import Iterator

import openai
from agent_framework.exceptions import AgentFrameworkException, ChatClientException

from app.answering.chat_endpoint import chat_endpoint
from app.errors import (
    AnswerError,
    UpstreamBusyError,
    UpstreamCutShortError,
    UpstreamMissingError,
    UpstreamRefusedError,
    UpstreamTimeoutError,
)
from app.settings import AppSettings
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.models.openai_endpoint import ROLE
from kb_pipeline.services import retry_after

FILTERED = "the model's content filter refused this question or its answer; ask in other words"
CUT_SHORT = "the model's answer was cut off in the middle; ask again"

_UNREADABLE = (json.JSONDecodeError, UnicodeDecodeError, openai.APIResponseValidationError)
_MISREAD = (AttributeError, KeyError, TypeError)
"""What the framework's client stumbles over in an answer that is none, a web page for instance."""


def explain(failure: Exception, settings: AppSettings, *, begun: bool) -> KnowledgeBaseError | None:
    """What happened and what to do, from whatever the SDK or the framework raised; ``None``: it is a bug of ours.

    ``begun`` says whether some of the answer had arrived.
    """
    for cause in _causes(failure):
        if isinstance(cause, KnowledgeBaseError):
            return cause
        if isinstance(cause, TimeoutError | openai.APITimeoutError):
            return _silence(settings)
        if isinstance(cause, openai.APIStatusError):
            return _status(cause, settings)
        if isinstance(cause, openai.APIConnectionError):
            return UpstreamCutShortError(CUT_SHORT) if begun else AnswerError(_unreachable(settings))
        misread = isinstance(cause, ChatClientException) and isinstance(cause.__cause__, _MISREAD)
        if misread or isinstance(cause, _UNREADABLE):
            return AnswerError(f"the model endpoint sent what is no chat completion; check {_address(settings)}")
        if isinstance(cause, openai.APIError):
            return AnswerError(f"the model failed in the middle of its answer: {_detail(cause, settings)}")
    if isinstance(failure, AgentFrameworkException | openai.OpenAIError):
        return AnswerError("the model could not be asked; the service's log says why")
    return None


def _causes(failure: BaseException | None) -> Iterator[BaseException]:
    while failure is not None:
        yield failure
        failure = failure.__cause__ or failure.__context__


def _status(refusal: openai.APIStatusError, settings: AppSettings) -> AnswerError:
    endpoint = chat_endpoint(settings)
    match refusal.status_code:
        case 401 | 403:
            return UpstreamRefusedError(
                f"the model endpoint refused our credentials ({refusal.status_code}); check {endpoint.key_setting}"
                + (
                    f", or without a key this service's role {ROLE} on the Azure OpenAI resource"
                    if endpoint.azure
                    else ""
                )
            )
        case 404:
            kind = "deployment" if endpoint.azure else "model"
            return UpstreamMissingError(
                f"the model endpoint knows no {kind} {endpoint.deployment(settings.chat_model or '')!r} (404); "
                f"check KB_CHAT_MODEL and {_address(settings)}"
            )
        case 429 | 503:
            return _busy(refusal)
        case 408 | 504:
            return _silence(settings)
        case status if status >= 500:
            return AnswerError(f"the model endpoint failed ({status}); ask again in a while")
    return AnswerError(_not_accepted(refusal, settings))


def _busy(refusal: openai.APIStatusError) -> AnswerError:
    if refusal.code == "insufficient_quota":
        return UpstreamBusyError("the quota of the model is used up; raise it where the key was issued")
    return UpstreamBusyError(
        f"the model has too much to do ({refusal.status_code}); ask again in a while",
        retry_after=retry_after(refusal.response.headers),
    )


def _not_accepted(refusal: openai.APIStatusError, settings: AppSettings) -> str:
    if refusal.code == "content_filter":
        return FILTERED
    if refusal.code == "context_length_exceeded":
        return "the conversation is too long for this model; begin a new one, or lower KB_HISTORY_TOKENS"
    detail = _detail(refusal, settings)
    return f"the model endpoint did not accept the question ({refusal.status_code}): {detail}{_hint(detail, settings)}"


def _hint(detail: str, settings: AppSettings) -> str:
    """What to set for a model that cannot do everything."""
    if settings.mode == "agent" and "tool" in detail.lower():
        return "; for a model without tools set KB_ANSWERING=retrieve-first"
    if settings.vision and "image" in detail.lower():
        return "; for a model that sees no images set KB_VISION=false"
    return ""


def _silence(settings: AppSettings) -> UpstreamTimeoutError:
    return UpstreamTimeoutError(
        f"the model was silent for {settings.chat_timeout_seconds:g} s; ask again, or raise KB_CHAT_TIMEOUT_SECONDS"
    )


def _unreachable(settings: AppSettings) -> str:
    return f"the model endpoint cannot be reached; check {_address(settings)} and that it runs"


def _address(settings: AppSettings) -> str:
    return chat_endpoint(settings).url_setting


def _detail(failure: openai.APIError, settings: AppSettings) -> str:
    """What the endpoint said, in one line, without a key or token should it be quoted there."""
    said = failure.body.get("message") if isinstance(failure.body, dict) else None
    return chat_endpoint(settings).service.words(said or failure.message)
