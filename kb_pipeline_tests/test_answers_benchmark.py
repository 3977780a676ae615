"""A slow model is asked each thing once: `benchmarks.recorded_model` keeps what it says, and repeats it."""

import asyncio
import json
from pathlib import Path

import httpx

from benchmarks.recorded_model import Recordings, application, said

EVENTS = [{"choices": [{"index": 0, "delta": {"content": word}, "finish_reason": None}]} for word in ("Crop ", "it.")]
STREAM = "".join(f"data: {json.dumps(event)}\n\n" for event in EVENTS)


def ask(recordings: Path, questions: list[str], stream: str) -> tuple[list[str], int]:
    """What is said to each question, and how often the model was asked."""
    asked = 0

    def model(_request: httpx.Request) -> httpx.Response:
        nonlocal asked
        asked += 1
        return httpx.Response(200, text=stream)

    async def run() -> list[str]:
        async with httpx.AsyncClient(transport=httpx.MockTransport(model), base_url="http://model/v1") as upstream:
            app = httpx.ASGITransport(application(upstream, Recordings.read(recordings)))
            async with httpx.AsyncClient(transport=app, base_url="http://relay") as client:
                bodies = ({"stream": True, "messages": [{"role": "user", "content": each}]} for each in questions)
                return [said((await client.post("/v1/chat/completions", json=body)).text) for body in bodies]

    return asyncio.run(run()), asked


def test_what_was_said_is_repeated_also_after_a_restart(tmp_path: Path) -> None:
    recordings, whole = tmp_path / "said.jsonl", f"{STREAM}data: [DONE]\n\n"
    assert ask(recordings, ["How?", "How?", "Why?"], whole) == (["Crop it."] * 3, 2)
    assert ask(recordings, ["Why?"], whole) == (["Crop it."], 0)
    assert [json.loads(line)["said"] for line in recordings.read_text().splitlines()] == ["Crop it."] * 2


def test_an_answer_that_broke_off_is_asked_for_again(tmp_path: Path) -> None:
    assert ask(tmp_path / "said.jsonl", ["How?", "How?"], STREAM) == (["Crop it."] * 2, 2)
