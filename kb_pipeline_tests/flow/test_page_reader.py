"""The text on pictures of pages is read once."""

import io
from pathlib import Path

import pytest
from PIL import Image
from upath import UPath

from kb_pipeline.flow import page_reader
from kb_pipeline.flow.page_reader import PageReader
from kb_pipeline.steps.describe import OcrLine, OcrWord
from kb_pipeline.store.layout import Layout
from kb_pipeline.store.locks import Locks


def picture(colour: str = "white") -> bytes:
    sink = io.BytesIO()
    Image.new("RGB", (60, 80), colour).save(sink, "PNG")
    return sink.getvalue()


def test_a_picture_is_read_once_also_by_another_process(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    line = OcrLine("Switch it on", 0.9, 1, 2, 50, 12, (OcrWord("Switch", 1, 20),))
    read: list[Image.Image] = []
    monkeypatch.setattr(page_reader, "recognise", lambda image: read.append(image) or [line])
    layout = Layout(home=UPath(tmp_path), serving_root=UPath(tmp_path / "serving"))
    for _ in range(2):
        assert list(PageReader(layout, Locks(tmp_path / "locks")).read(picture())) == [line]
    assert len(read) == 1
    PageReader(layout, Locks(tmp_path / "locks")).read(picture("red"))
    assert len(read) == 2
