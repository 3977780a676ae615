"""What is said in recordings. A recording is transcribed once, in whichever articles it is."""

from collections.abc import Sequence

from kb_pipeline.models.openai_transcription import OpenAITranscriber
from kb_pipeline.records import Record, Spoken
from kb_pipeline.services.usage import timed_use
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import fingerprint, sha256
from kb_pipeline.store.kept import DurableRecord
from kb_pipeline.store.layout import Layout
from kb_pipeline.store.locks import Locks


class Transcript(Record):
    """What is said in a recording."""

    spoken: tuple[Spoken, ...]


class Transcripts:
    """Transcribes with the model of the settings, and keeps the results, which are paid for."""

    def __init__(self, settings: Settings, layout: Layout, locks: Locks) -> None:
        """Open the model; nothing is sent yet.

        Raises:
            SettingsError: it has no endpoint.
        """
        self._model = OpenAITranscriber(settings)
        self._layout, self._locks = layout, locks

    def read(self, name: str, data: bytes) -> Sequence[Spoken]:
        """Return what is said in a recording; the model is asked if nobody asked it before.

        Raises:
            KnowledgeBaseError: as the model, or the results kept earlier cannot be read or written.
        """
        key = self._key(data)
        with self._locks.hold([key]):
            if known := self._kept(key).read().value:
                return known.spoken
            with timed_use(self._model.model_id):
                spoken = self._model.transcribe(name, data)
            self._kept(key).write(Transcript(spoken=spoken).model_dump_json().encode(), durable=True)
        return spoken

    def known(self, _: str, data: bytes) -> Sequence[Spoken]:
        """Return the same without asking the model; nothing but a silence if it was not asked before."""
        known = self._kept(self._key(data)).read().value
        return known.spoken if known else (Spoken(start=0, end=0, text=""),)

    def _key(self, data: bytes) -> str:
        return fingerprint(sha256(data), self._model.model_id)

    def _kept(self, key: str) -> DurableRecord[Transcript]:
        path = self._layout.transcript(key)
        return DurableRecord(
            self._layout.home, str(path.relative_to(self._layout.home)), Transcript.model_validate_json
        )
