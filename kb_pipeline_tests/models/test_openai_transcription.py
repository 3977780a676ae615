"""A recording is sent as OpenAI's protocol wants it, its minutes are counted, and what goes wrong says what to do."""

from collections.abc import Iterator

import pytest
from starlette.responses import JSONResponse

from kb_pipeline.errors import (
    ModelError,
    ServiceRefusedError,
    SettingsError,
    TransientError,
    UnreadableArticleError,
)
from kb_pipeline.models.openai_transcription import OpenAITranscriber
from kb_pipeline.records import Spoken
from kb_pipeline.services.usage import metering
from kb_pipeline.settings import Settings
from kb_pipeline_tests.sources.test_recording import WAVE
from kb_pipeline_tests.transcription_server import LARGEST, TranscriptionServer, transcription_server


@pytest.fixture(scope="module")
def running() -> Iterator[TranscriptionServer]:
    with transcription_server() as server:
        yield server


@pytest.fixture
def server(running: TranscriptionServer) -> TranscriptionServer:
    running.segments, running.asked, running.answer = [(0.0, "Open the valve."), (61.0, "Wait.")], [], None
    return running


def transcribe(server: TranscriptionServer, data: bytes = WAVE, **changed: object) -> tuple[Spoken, ...]:
    settings = Settings(**{**server.settings, **changed})
    return OpenAITranscriber(settings).transcribe("Talk größer.wav", data)


def test_what_is_said_comes_with_its_times_and_its_minutes_are_used(server: TranscriptionServer) -> None:
    with metering() as used:
        spoken = transcribe(server)
    assert spoken == (
        Spoken(start=0, end=1.5, text=" Open the valve."),
        Spoken(start=61, end=62.5, text=" Wait."),
    )
    assert [(each.model, each.calls, each.pages) for each in used] == [("whisper-1", 1, 2)]
    assert server.asked == ["Talk größer.wav"]


def test_a_file_that_is_too_large_is_no_failure_of_the_service(server: TranscriptionServer) -> None:
    with pytest.raises(
        UnreadableArticleError, match=r"whisper-1 does not take the recording Talk .* \(413 too_large\)"
    ):
        transcribe(server, WAVE + bytes(LARGEST))


@pytest.mark.parametrize(
    ("answer", "error", "said"),
    [
        (JSONResponse({"text": "Open the valve."}), ModelError, "such as whisper-1"),
        (JSONResponse({"duration": 1, "segments": [{"start": "x", "end": 1, "text": ""}]}), ModelError, "segments"),
        (JSONResponse({"error": {"message": "busy"}}, 503), TransientError, "busy|try"),
        (JSONResponse({"error": {"message": "no"}}, 401), ServiceRefusedError, "KB_OPENAI_API_KEY"),
        (JSONResponse({"error": {"message": "no"}}, 404), ServiceRefusedError, "KB_TRANSCRIPTION_MODEL"),
    ],
)
def test_what_goes_wrong_is_told(
    server: TranscriptionServer, answer: JSONResponse, error: type[Exception], said: str
) -> None:
    server.answer = answer
    with pytest.raises(error, match=said):
        transcribe(server)


def test_without_an_endpoint_the_setting_is_named() -> None:
    with pytest.raises(SettingsError, match="KB_TRANSCRIPTION_MODEL needs an endpoint: set KB_OPENAI_AZURE_ENDPOINT"):
        OpenAITranscriber(Settings(transcription_model="whisper-1"))
