"""What is said in a recording is read minute by minute."""

import re

import pytest

from kb_pipeline.errors import EmptyArticleError, UnreadableArticleError
from kb_pipeline.records import Spoken
from kb_pipeline.sources import SourceDocument, SourceTools, source_of

WAVE = b"RIFF\x24\0\0\0WAVEfmt "
RECORDINGS = {
    "a.mp3": b"ID3\x04\0",
    "b.mp3": b"\xff\xfb\x90\x64",
    "c.wav": WAVE,
    "d.m4a": b"\0\0\0\x20ftypM4A ",
    "e.ogg": b"OggS\0",
}


def read(*spoken: tuple[float, float, str], name: str = "talk.wav", data: bytes = WAVE) -> SourceDocument:
    said = [Spoken(start=start, end=end, text=text) for start, end, text in spoken]
    return source_of("recording").equipped(SourceTools(transcribe=lambda _, __: said)).read("talk", name, data)


def test_each_minute_is_a_page_with_its_time_as_label() -> None:
    found = read((1, 3, "Open the valve."), (3.2, 5, "Wait."), (8, 9, "Now the pump."), (130, 131, "It <runs> & runs."))
    assert [(page.number, page.label) for page in found.pages] == [(1, "0:00:00"), (2, "0:01:00"), (3, "0:02:00")]
    pages = re.split(r'<kb-page data-number="\d" data-label="[\d:]+"></kb-page>', found.html)
    assert pages[1:] == [
        "<p>Open the valve. Wait.</p><p>Now the pump.</p>",
        "",
        "<p>It &lt;runs&gt; &amp; runs.</p></body></html>",
    ]
    assert found.title == "talk"


@pytest.mark.parametrize("name", RECORDINGS)
def test_a_recording_is_told_by_its_first_bytes(name: str) -> None:
    assert "Yes." in read((0, 1, "Yes."), name=name, data=RECORDINGS[name]).html


def test_times_that_no_recording_has_are_left_out() -> None:
    assert len(read((0, 1, "Yes."), (1e12, 1e12, "No.")).pages) == 1


def test_a_recording_in_which_nothing_is_said_is_empty() -> None:
    with pytest.raises(EmptyArticleError, match=r"talk: nothing is said in talk\.wav; stage what it is about"):
        read()


def test_without_a_model_it_is_refused_with_what_to_do() -> None:
    with pytest.raises(UnreadableArticleError, match=r"talk\.wav is a recording, .* set KB_TRANSCRIPTION_MODEL, or"):
        source_of("recording").read("talk", "talk.wav", WAVE)
