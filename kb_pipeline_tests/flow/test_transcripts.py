"""A recording is an article, is paid for once, and its passages know the minute."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from kb_pipeline.flow.layers.chunks import load_chunks
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.records import Price
from kb_pipeline.services.usage import priced
from kb_pipeline.settings import Settings
from kb_pipeline.store.state import load_state
from kb_pipeline.upkeep.estimate import estimate
from kb_pipeline_tests.conftest import Build
from kb_pipeline_tests.sources.test_recording import WAVE
from kb_pipeline_tests.transcription_server import TranscriptionServer, transcription_server


@pytest.fixture
def server() -> Iterator[TranscriptionServer]:
    with transcription_server() as running:
        running.segments = [(5.0, "The pump starts by itself."), (130.0, "Close the valve before you leave the shift.")]
        yield running


def stage(settings: Settings, *names: str) -> None:
    for name in names:
        (Path(settings.staging) / name).write_bytes(WAVE)


@pytest.mark.slow("builds a whole knowledge base")
def test_a_recording_is_transcribed_once_and_cited_by_its_minute(
    settings: Settings, server: TranscriptionServer, build_here: Build
) -> None:
    stage(settings, "handover.wav", "copy of handover.wav")
    with_model = {**server.settings, "prices": (Price(model="whisper-1", pages=6),)}
    assert estimate(Workspace(settings.model_copy(update=with_model)), None).unreadable == ()
    assert server.asked == []
    results = build_here(**with_model)
    assert {result.error for result in results.values()} == {None}
    assert len(server.asked) == 1
    workspace = Workspace(settings)
    state = load_state(workspace.layout, "handover.wav")
    chunks = load_chunks(workspace.layout, "handover.wav", state.version)
    (chunk,) = (each for each in chunks if each.block_type == "text" and "Close" in each.content)
    assert "0:02:00" in str(chunk.page_breaks)
    spent = [load_state(workspace.layout, name).spent["converted_markdown"] for name in results]
    used = [each for usages in spent for each in priced(usages, with_model["prices"]) if each.model == "whisper-1"]
    assert (sum(each.pages for each in used), sum(each.cost or 0 for each in used)) == (3, pytest.approx(0.018))
    assert build_here(**with_model)["handover.wav"].error is None
    assert len(server.asked) == 1


def test_without_a_model_it_fails_alone_and_says_what_to_do(settings: Settings, build_here: Build) -> None:
    stage(settings, "handover.wav")
    assert "set KB_TRANSCRIPTION_MODEL" in str(build_here()["handover.wav"].error)
