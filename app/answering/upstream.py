"""What can go wrong between us and a model, as a reader is told it."""

import email.utils
import json
import time
from collections.abc import Iterator

import openai
from agent_framework.exceptions import AgentFrameworkException

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

FILTERED = "the model's content filter refused this question or its answer; ask in other words"
CUT_SHORT = "the model's answer was cut off in the middle; ask again"

_LONGEST_DETAIL = 300
_UNREADABLE = (json.JSONDecodeError, UnicodeDecodeError, openai.APIResponseValidationError)


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
        if isinstance(cause, _UNREADABLE):
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
    match refusal.status_code:
        case 401 | 403:
            return UpstreamRefusedError(
                f"the model endpoint refused our credentials ({refusal.status_code}); check KB_CHAT_API_KEY"
                + (" or this service's role on the Azure OpenAI resource" if settings.chat_azure_endpoint else "")
            )
        case 404:
            kind = "deployment" if settings.chat_azure_endpoint else "model"
            return UpstreamMissingError(
                f"the model endpoint knows no {kind} {settings.chat_model!r} (404); "
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
        retry_after=retry_after(refusal.response.headers.get("retry-after")),
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
    return "KB_CHAT_AZURE_ENDPOINT" if settings.chat_azure_endpoint else "KB_CHAT_BASE_URL"


def _detail(failure: openai.APIError, settings: AppSettings) -> str:
    """What the endpoint said, in one line, without our key should it be quoted there."""
    said = failure.body.get("message") if isinstance(failure.body, dict) else None
    line = " ".join(str(said or failure.message).split())
    if settings.chat_api_key and (key := settings.chat_api_key.get_secret_value()):
        line = line.replace(key, "***")
    return line[:_LONGEST_DETAIL]


def retry_after(header: str | None, now: float | None = None) -> float | None:
    """Seconds to wait by a ``Retry-After`` header (RFC 9110, section 10.2.3): seconds or a date."""
    if not header:
        return None
    try:
        return max(0.0, float(header))
    except ValueError:
        pass
    try:
        date = email.utils.parsedate_to_datetime(header)
    except ValueError:
        return None
    return max(0.0, date.timestamp() - (time.time() if now is None else now))
