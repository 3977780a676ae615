"""A stand-in for OpenAI's transcription of recordings, which refuses fields that it does not know."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from pydantic import SecretStr
from starlette.applications import Starlette
from starlette.datastructures import UploadFile
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from kb_pipeline_tests.app.serving import serving_app

KEY = "sk-of-the-test"
LARGEST = 25 * 1024 * 1024
_FIELDS = {"file", "model", "response_format", "timestamp_granularities[]"}


class TranscriptionServer:
    """Says of each recording what ``segments`` holds, as pairs of the second at which it begins and its text."""

    def __init__(self) -> None:
        self.url = ""
        self.segments: list[tuple[float, str]] = []
        self.asked: list[str] = []
        self.answer: Response | None = None

    @property
    def settings(self) -> dict[str, Any]:
        """The settings that lead here."""
        return {
            "openai_base_url": f"{self.url}/v1",
            "openai_api_key": SecretStr(KEY),
            "transcription_model": "whisper-1",
        }

    async def transcribe(self, request: Request) -> Response:
        form = await request.form()
        file = form.get("file")
        self.asked.append(file.filename or "" if isinstance(file, UploadFile) else "")
        if self.answer:
            return self.answer
        if request.headers.get("authorization") != f"Bearer {KEY}":
            return _refused(401, "invalid_api_key")
        if unknown := set(form) - _FIELDS:
            return _refused(400, f"unknown_{min(unknown)}")
        if form.get("model") != "whisper-1":
            return _refused(404, "model_not_found")
        if not isinstance(file, UploadFile) or not file.filename or form.get("response_format") != "verbose_json":
            return _refused(400, "invalid_value")
        if len(await file.read()) > LARGEST:
            return _refused(413, "too_large")
        return JSONResponse(self._said())

    def _said(self) -> dict[str, Any]:
        segments = [
            {
                "id": number, "seek": 0, "start": start, "end": start + 1.5, "text": f" {text}", "tokens": [50364],
                "temperature": 0.0, "avg_logprob": -0.2, "compression_ratio": 1.1, "no_speech_prob": 0.01,
            }
            for number, (start, text) in enumerate(self.segments)
        ]  # fmt: skip
        duration = self.segments[-1][0] + 1.5 if self.segments else 3.0
        text = " ".join(text for _, text in self.segments)
        usage = {"type": "duration", "seconds": round(duration)}
        return {"task": "transcribe", "language": "english", "duration": duration, "text": text,
                "segments": segments, "usage": usage}  # fmt: skip


def _refused(status: int, code: str) -> Response:
    return JSONResponse({"error": {"message": code, "type": "error", "param": None, "code": code}}, status)


@contextmanager
def transcription_server() -> Iterator[TranscriptionServer]:
    """Run the stand-in."""
    server = TranscriptionServer()
    app = Starlette(routes=[Route("/v1/audio/transcriptions", server.transcribe, methods=["POST"])])
    with serving_app(app) as server.url:
        yield server
