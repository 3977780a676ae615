"""Transcribes recordings with a model of an endpoint that speaks OpenAI's protocol.

The answer has segments of some seconds with their times (``verbose_json``), which OpenAI's own ``whisper-1`` and most
servers with a Whisper model give. https://platform.openai.com/docs/api-reference/audio/createTranscription
"""

import math

from pydantic import BaseModel, Field, ValidationError

from kb_pipeline.errors import ModelError, UnreadableArticleError
from kb_pipeline.models.openai_client import OpenAIConnection, openai_endpoint
from kb_pipeline.records import Spoken, Usage
from kb_pipeline.services.usage import record_usage
from kb_pipeline.settings import Settings
from kb_pipeline.steps.formats import media_type_of

_NOT_TAKEN = frozenset({400, 413, 415})
"""Statuses that concern the file: too large (25 MB at OpenAI), too long, damaged."""


class OpenAITranscriber:
    """Transcribes with ``KB_TRANSCRIPTION_MODEL``."""

    def __init__(self, settings: Settings) -> None:
        """Read model and endpoint from the settings; nothing is sent yet.

        Raises:
            SettingsError: no endpoint is set.
        """
        self.model_id = settings.transcription_model or ""
        self._connection = OpenAIConnection(openai_endpoint(settings, "KB_TRANSCRIPTION_MODEL"))

    def transcribe(self, name: str, data: bytes) -> tuple[Spoken, ...]:
        """What is said in a recording, with the seconds from its beginning at which it is said.

        Raises:
            UnreadableArticleError: the service does not take the file.
            TransientError: the service is busy, cannot be reached, or did not answer in time.
            ServiceError: it refuses access, or does not have the model.
            ModelError: it answers without times.
        """
        import openai

        endpoint = self._connection.endpoint
        with self._connection.asking(self.model_id, "KB_TRANSCRIPTION_MODEL") as client:
            try:
                answer = client.audio.transcriptions.with_raw_response.create(
                    model=endpoint.deployment(self.model_id),
                    file=(name, data, media_type_of(name)),
                    response_format="verbose_json",
                    timestamp_granularities=["segment"],
                )
            except openai.APIStatusError as exc:
                if exc.status_code not in _NOT_TAKEN:
                    raise
                raise UnreadableArticleError(
                    f"{self.model_id} does not take the recording {name} ({exc.status_code} {exc.code or ''}".rstrip()
                    + "); save it smaller or in parts, as .mp3"
                ) from None
        try:
            said = _Transcription.model_validate_json(answer.content)
        except ValidationError as exc:
            raise ModelError(
                f"{endpoint.service.place} did not answer with segments and their times ({exc.errors()[0]['msg']}); "
                "set KB_TRANSCRIPTION_MODEL to a model that gives verbose_json, such as whisper-1"
            ) from None
        record_usage(Usage(model=self.model_id, calls=1, pages=math.ceil(said.duration / 60)))
        return tuple(
            Spoken(start=each.start, end=each.end, text=each.text) for each in said.segments if each.text.strip()
        )


class _Segment(BaseModel):
    start: float = Field(ge=0, allow_inf_nan=False)
    end: float = Field(ge=0, allow_inf_nan=False)
    text: str


class _Transcription(BaseModel):
    duration: float = Field(ge=0, allow_inf_nan=False)
    segments: list[_Segment]
