"""Which images a model is shown, where, and in what size."""

import base64
import io
from collections.abc import Callable
from typing import Any

import pytest
from PIL import Image

from app.answering import vision
from app.callers.principal import Principal
from app.library.images import ImageNotFoundError
from kb_pipeline.settings import Settings
from kb_pipeline.store.layout import Layout
from kb_pipeline_tests.app.answering.conftest import Ask
from kb_pipeline_tests.app.answering.test_agent import saying, searching
from kb_pipeline_tests.app.model_servers import Aimock
from kb_pipeline_tests.pictures import screenshot

CROP, TRAY = "/api/images/layers/images/crop.png", "/api/images/printing/images/tray.png"
SEES: dict[str, Any] = {"vision": True, "top": 20}


def parts(message: dict[str, Any]) -> list[dict[str, Any]]:
    content = message.get("content")
    return content if isinstance(content, list) else []


def shown(request: dict[str, Any]) -> dict[str, Image.Image]:
    """The images of a request, by the label that stands before each."""
    everything = [part for message in request["messages"] for part in parts(message)]
    labels = [part["text"] for part in everything if part["type"] == "text" and part["text"].startswith("Image ")]
    urls = [part["image_url"]["url"] for part in everything if part["type"] == "image_url"]
    assert len(labels) == len(urls)
    assert len(set(labels)) == len(labels)
    return {label.split()[1]: decoded(url) for label, url in zip(labels, urls, strict=True)}


def decoded(url: str) -> Image.Image:
    return Image.open(io.BytesIO(base64.b64decode(url.partition(";base64,")[2])))


@pytest.fixture
def images(monkeypatch: pytest.MonkeyPatch) -> Callable[[dict[str, bytes]], None]:
    """``images({url: bytes})``: what lies in the serving layer; everything else is missing there."""

    def lie(files: dict[str, bytes]) -> None:
        def read(url: str) -> bytes:
            if url not in files:
                raise FileNotFoundError(url)
            return files[url]

        monkeypatch.setattr(vision, "image_reader", lambda _layout: lambda _who: read)

    return lie


def test_the_agent_sees_the_screenshots_of_what_it_found_right_behind_it(aimock: Aimock, ask: Ask) -> None:
    aimock.says(searching("paper jam", turnIndex=0), saying("Like this [Ref #1].", turnIndex=1))
    ask("How do I clear a paper jam?", base_url=aimock.base_url, **SEES, search_rounds=1)
    first, second = aimock.requests()
    assert shown(first) == {}
    assert list(shown(second)) == [TRAY, CROP]
    assert shown(second)[TRAY].size == (640, 240)
    assert [message["role"] for message in second["messages"]] == ["system", "user", "assistant", "tool", "user"]


def test_what_was_shown_once_stays_where_it_is_and_is_not_shown_again(aimock: Aimock, ask: Ask) -> None:
    aimock.says(
        searching("paper jam", turnIndex=0), searching("crop a layer", turnIndex=1), saying("Done.", turnIndex=2)
    )
    ask("How do I clear a paper jam?", base_url=aimock.base_url, vision=True, top=20)
    _, second, third = aimock.requests()
    assert list(shown(third)) == list(shown(second)) == [TRAY, CROP]
    assert third["messages"][: len(second["messages"])] == second["messages"]


def test_a_server_that_gives_every_call_the_same_id_changes_nothing(aimock: Aimock, ask: Ask) -> None:
    rounds = [searching("paper jam", turnIndex=0), searching("crop to content", turnIndex=1)]
    for each in rounds:
        each["response"]["toolCalls"][0]["id"] = "call_0"
    aimock.says(*rounds, saying("Done.", turnIndex=2))
    ask("How do I clear a paper jam?", base_url=aimock.base_url, vision=True, top=1)
    assert list(shown(aimock.requests()[-1])) == [TRAY, CROP]


def test_in_retrieve_first_they_are_part_of_the_question(aimock: Aimock, ask: Ask) -> None:
    aimock.says(saying("Like this [Ref #1]."))
    ask("How do I clear a paper jam?", base_url=aimock.base_url, answering="retrieve-first", vision=True, top=1)
    (request,) = aimock.requests()
    assert list(shown(request)) == [TRAY]
    assert [message["role"] for message in request["messages"]] == ["system", "user"]
    assert parts(request["messages"][1])[1]["text"] == "How do I clear a paper jam?"


@pytest.mark.parametrize("settings", [{"vision": False}, {"vision_images": 0}])
def test_a_model_without_sight_gets_the_descriptions_only(aimock: Aimock, ask: Ask, settings: dict[str, Any]) -> None:
    aimock.says(saying("Like this."))
    ask("paper jam", base_url=aimock.base_url, answering="retrieve-first", **{**SEES, **settings})
    (request,) = aimock.requests()
    assert shown(request) == {}
    assert f"[Image: tray]({TRAY})" in request["messages"][1]["content"]


def test_no_more_images_than_the_settings_allow_best_passage_first(aimock: Aimock, ask: Ask) -> None:
    aimock.says(saying("Like this."))
    ask("paper jam", base_url=aimock.base_url, answering="retrieve-first", **SEES, vision_images=1)
    assert list(shown(aimock.requests()[0])) == [TRAY]


def test_what_does_not_fit_makes_way_for_what_does(
    aimock: Aimock, ask: Ask, images: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    small = screenshot("small", size=(60, 60))
    images({TRAY: screenshot("large", size=(1200, 1200)), CROP: small})
    monkeypatch.setattr(vision, "_MOST_BYTES", len(small))
    aimock.says(saying("Like this."))
    ask("paper jam", base_url=aimock.base_url, answering="retrieve-first", **SEES)
    assert list(shown(aimock.requests()[0])) == [CROP]


def test_large_images_are_scaled_down(aimock: Aimock, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(vision, "_LONGEST_SIDE", 160)
    aimock.says(saying("Like this."))
    ask("paper jam", base_url=aimock.base_url, answering="retrieve-first", **SEES)
    assert shown(aimock.requests()[0])[TRAY].size == (160, 60)


@pytest.mark.parametrize("found", [{}, {TRAY: b""}, {TRAY: b"GIF89a"}, {TRAY: screenshot("x")[:200]}])
def test_an_image_that_is_missing_or_broken_is_a_warning(
    aimock: Aimock, ask: Ask, images: Any, caplog: pytest.LogCaptureFixture, found: dict[str, bytes]
) -> None:
    images({**found, CROP: screenshot("crop")})
    aimock.says(saying("Like this."))
    asked = ask("paper jam", base_url=aimock.base_url, answering="retrieve-first", **SEES)
    assert asked.text == "Like this."
    assert list(shown(aimock.requests()[0])) == [CROP]
    assert f"{TRAY} is not shown to the model" in caplog.text


def test_an_image_is_read_only_for_those_who_may_see_it(knowledge_base: Settings) -> None:
    read, url = vision.image_reader(Layout.of(knowledge_base)), "/api/images/secret/images/table.png"
    assert read(Principal("ann", ("group-hr",)))(url).startswith(b"\x89PNG")
    with pytest.raises(ImageNotFoundError):
        read(Principal())(url)


def test_images_are_read_for_the_person_who_asks(aimock: Aimock, ask: Ask, monkeypatch: pytest.MonkeyPatch) -> None:
    asking: list[Principal] = []
    monkeypatch.setattr(vision, "image_reader", lambda _: lambda who: asking.append(who) or (lambda _url: b""))
    aimock.says(saying("Like this."))
    ask("paper jam", base_url=aimock.base_url, answering="retrieve-first", **SEES, who=Principal("ann", ("hr",)))
    assert asking == [Principal("ann", ("hr",))]
