"""A recording as an article: what is said in it, minute by minute, as a model transcribed it. Each minute is a page."""

import posixpath
from collections.abc import Sequence
from html import escape
from typing import ClassVar

from kb_pipeline.errors import EmptyArticleError, UnreadableArticleError
from kb_pipeline.records import PageInfo, Spoken
from kb_pipeline.sources.base import Source, SourceDocument, SourceTools, page_element
from kb_pipeline.sources.first_bytes import kind_of

_MINUTE = 60
_LONGEST = 24 * 60
"""Minutes: a time after that is an error of the model."""
_PAUSE = 2.0
"""Seconds of silence after which a paragraph begins: speakers change, or begin another thought."""


class RecordingSource(Source):
    """Reads recordings by the words that ``SourceTools.transcribe`` returns for them."""

    version: ClassVar[str] = "recording-1+openai-audio-1"
    is_transcribed: ClassVar[bool] = True

    def __init__(self, tools: SourceTools | None = None) -> None:
        self._tools = tools or SourceTools()

    def equipped(self, tools: SourceTools) -> "RecordingSource":
        return RecordingSource(tools)

    def read(self, article_id: str, name: str, data: bytes) -> SourceDocument:
        if not data.strip(b"\x00 \n\r\t"):
            raise EmptyArticleError(f"{article_id}: {name} is empty; stage it again")
        if not _is_recording(data):
            kind = kind_of(data)
            what = f"{kind} under another name; rename it" if kind else "damaged or no recording; save it again"
            raise UnreadableArticleError(f"{article_id}: {name} is {what}")
        if self._tools.transcribe is None:
            raise UnreadableArticleError(
                f"{article_id}: {name} is a recording, and no model is set that transcribes it; set "
                "KB_TRANSCRIPTION_MODEL, or stage what is said in it as a document (.md, .docx)"
            )
        spoken = [each for each in self._tools.transcribe(name, data) if each.start < _LONGEST * _MINUTE]
        if not spoken:
            raise EmptyArticleError(f"{article_id}: nothing is said in {name}; stage what it is about as a document")
        by_minute: dict[int, list[Spoken]] = {}
        for each in sorted(spoken, key=lambda each: each.start):
            by_minute.setdefault(int(each.start // _MINUTE), []).append(each)
        minutes = range(max(by_minute) + 1)
        html = "".join(page_element(at + 1, _time(at)) + _paragraphs(by_minute.get(at, ())) for at in minutes)
        pages = tuple(PageInfo(number=at + 1, label=_time(at)) for at in minutes)
        return SourceDocument(f"<html><body>{html}</body></html>", posixpath.splitext(name)[0], pages=pages)


def _time(minute: int) -> str:
    return f"{minute // 60}:{minute % 60:02}:00"


def _paragraphs(spoken: Sequence[Spoken]) -> str:
    paragraphs: list[list[str]] = []
    for at, each in enumerate(spoken):
        if not at or each.start - spoken[at - 1].end >= _PAUSE:
            paragraphs.append([])
        paragraphs[-1].append(" ".join(each.text.split()))
    return "".join(f"<p>{escape(' '.join(filter(None, each)))}</p>" for each in paragraphs)


def _is_recording(data: bytes) -> bool:
    """Whether a file begins as MP3 (with or without a tag), WAV, MPEG-4 or Ogg does."""
    is_frame = data[0] == 0xFF and data[1:2] > b"\xe0" and data[:3] != b"\xff\xd8\xff"
    is_wave = data[:4] == b"RIFF" and data[8:12] == b"WAVE"
    return is_frame or is_wave or data[:3] == b"ID3" or data[4:8] == b"ftyp" or data[:4] == b"OggS"
