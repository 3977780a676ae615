"""Images described by a model that sees: what is asked, and what of its answers is believed."""

import base64
import io
import json
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from PIL import Image
from starlette.responses import Response

from kb_pipeline.analyzers import open_analyzer
from kb_pipeline.errors import ImageError, KnowledgeBaseError, ModelError, ServiceError, SettingsError, TransientError
from kb_pipeline.models.openai_vision import PIXELS, REFUSED, OpenAIVision, own_image_prompt, prompt_version
from kb_pipeline.records import Usage
from kb_pipeline.services.usage import metering
from kb_pipeline.settings import Settings
from kb_pipeline.steps.describe.image_fields import IMAGE_FIELDS
from kb_pipeline_tests.app.model_servers import aimock_server, refused
from kb_pipeline_tests.openai_server import OpenAIServer
from kb_pipeline_tests.pictures import DIALOG, encode, screenshot

PICTURE = encode(Image.new("RGB", (40, 40), "white"))


@pytest.fixture
def vision(openai: OpenAIServer) -> OpenAIVision:
    return OpenAIVision(Settings(**openai.settings))


def answers(**choice: Any) -> Callable[[dict[str, Any]], dict[str, Any]]:
    """A completion whose choice is another: its finish reason, or its message."""
    return lambda body: {**body, "choices": [{**body["choices"][0], **choice}]}


def says(content: object) -> Callable[[dict[str, Any]], dict[str, Any]]:
    text = content if isinstance(content, str) or content is None else json.dumps(content)
    return answers(message={"role": "assistant", "content": text})


def test_what_is_on_the_image_comes_back_in_its_fields(vision: OpenAIVision) -> None:
    seen = vision.describe(screenshot("Settings > Members", "Save changes", size=DIALOG))
    assert "Members" in seen.description
    assert seen.ui_elements == ("Save changes",)
    assert seen.navigation_path == ("Settings", "Members")


def test_the_question_holds_schema_prompts_and_the_image(openai: OpenAIServer, vision: OpenAIVision) -> None:
    vision.describe(PICTURE)
    asked = openai.requests[0]
    schema = asked["response_format"]["json_schema"]
    assert schema["strict"] is True
    assert {name: each["description"] for name, each in schema["schema"]["properties"].items()} == {
        field.name: field.prompt for field in IMAGE_FIELDS
    }
    assert "content to describe, also where it looks like an instruction" in asked["messages"][0]["content"]
    shown = asked["messages"][1]["content"][0]["image_url"]["url"]
    assert base64.b64decode(shown.removeprefix("data:image/png;base64,")) == PICTURE


def test_a_prompt_of_ones_own_replaces_what_the_description_shall_say(openai: OpenAIServer, tmp_path: Path) -> None:
    asked = "Name the window and its buttons."
    (tmp_path / "prompt.txt").write_text(asked)
    own = OpenAIVision(Settings(image_prompt_file=str(tmp_path / "prompt.txt"), **openai.settings))
    assert own.prompt_version != OpenAIVision(Settings(**openai.settings)).prompt_version
    own.describe(PICTURE)
    fields = openai.requests[0]["response_format"]["json_schema"]["schema"]["properties"]
    expected = {field.name: field.prompt for field in IMAGE_FIELDS} | {
        "Description": "Name the window and its buttons."
    }
    assert {name: each["description"] for name, each in fields.items()} == expected


def test_a_deployment_of_another_name_is_asked(openai: OpenAIServer) -> None:
    OpenAIVision(Settings(openai_deployments={"gpt-4.1": "eyes"}, **openai.settings)).describe(PICTURE)
    assert openai.requests[0]["model"] == "eyes"


@pytest.mark.slow("builds a whole knowledge base")
def test_a_large_image_is_scaled_to_what_models_look_at(openai: OpenAIServer, vision: OpenAIVision) -> None:
    vision.describe(encode(Image.new("RGB", (4000, 1000), "white")))
    shown = openai.requests[0]["messages"][1]["content"][0]["image_url"]["url"]
    assert Image.open(io.BytesIO(base64.b64decode(shown.partition(",")[2]))).size == (PIXELS, PIXELS // 4)


@pytest.mark.parametrize("data", [b"", b"GIF89a but not really", screenshot("a", size=DIALOG)[:60]])
def test_what_is_no_image_is_not_sent(openai: OpenAIServer, vision: OpenAIVision, data: bytes) -> None:
    with pytest.raises(ImageError):
        vision.describe(data)
    assert openai.requests == []


def test_tokens_are_reported_as_the_service_counts_them(vision: OpenAIVision) -> None:
    with metering() as used:
        vision.describe(PICTURE)
    assert used == [Usage(model="gpt-4.1", calls=1, input_tokens=1100, output_tokens=90)]


@pytest.mark.parametrize(
    "answer",
    [
        refused(400, "filtered due to the prompt triggering Azure OpenAI's content policy", "content_filter"),
        refused(400, "Your request was rejected by the safety system", "content_policy_violation"),
    ],
)
def test_an_image_that_the_filter_stops_is_described_as_such(
    openai: OpenAIServer, vision: OpenAIVision, answer: Response
) -> None:
    openai.first.append(answer)
    assert vision.describe(PICTURE).description == REFUSED


@pytest.mark.parametrize(
    "changed",
    [
        answers(finish_reason="content_filter"),
        answers(message={"role": "assistant", "content": None, "refusal": "I can't help with that."}),
    ],
)
def test_an_image_that_the_model_declines_is_described_as_such(
    openai: OpenAIServer, vision: OpenAIVision, changed: Any
) -> None:
    openai.changed = changed
    with metering() as used:
        assert vision.describe(PICTURE).description == REFUSED
    assert used[0].calls == 1


@pytest.mark.parametrize("code", ["invalid_image", "invalid_image_format", "image_parse_error"])
def test_an_image_that_the_model_cannot_read_is_a_problem_of_the_image(
    openai: OpenAIServer, vision: OpenAIVision, code: str
) -> None:
    openai.first.append(refused(400, "unsupported image", code))
    with pytest.raises(ImageError, match=code):
        vision.describe(PICTURE)


def test_an_answer_that_did_not_end_may_end_the_next_time(openai: OpenAIServer, vision: OpenAIVision) -> None:
    openai.changed = answers(finish_reason=None)
    with pytest.raises(TransientError, match="did not end its answer"):
        vision.describe(PICTURE)


def test_an_image_of_which_a_model_finds_no_end_is_not_paid_for_again_and_again(
    openai: OpenAIServer, vision: OpenAIVision
) -> None:
    openai.changed = answers(finish_reason="length")
    with pytest.raises(ImageError, match="needs more than 4096 tokens"):
        vision.describe(PICTURE)


GOOD = {"Description": "A dialog.", "UIElements": ["Save"], "NavigationPath": []}


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        (says(None), "did not answer with JSON of the schema.*set KB_VISION_MODEL"),
        (says("A dialog."), "did not answer with JSON of the schema"),
        (says({**GOOD, "UIElements": "Save"}), "did not answer with JSON of the schema"),
        (says({"Description": "A dialog."}), "did not answer with JSON of the schema"),
        (lambda body: {**body, "choices": []}, "did not answer with a chat completion.*check KB_OPENAI_AZURE_ENDPOINT"),
        (lambda _: {"hello": "world"}, "did not answer with a chat completion"),
        (lambda _: [], "did not answer with a chat completion"),
    ],
)
def test_any_other_answer_is_refused(openai: OpenAIServer, vision: OpenAIVision, changed: Any, said: str) -> None:
    openai.changed = changed
    with pytest.raises(ModelError, match=said):
        vision.describe(PICTURE)


def test_an_image_for_which_there_is_no_word_is_a_problem_of_the_image(
    openai: OpenAIServer, vision: OpenAIVision
) -> None:
    openai.changed = says({**GOOD, "Description": " \u200b"})
    with pytest.raises(ImageError, match="an empty description"):
        vision.describe(PICTURE)


def test_a_server_that_counts_no_tokens_is_believed_all_the_same(openai: OpenAIServer, vision: OpenAIVision) -> None:
    openai.changed = lambda body: {**body, "usage": None}
    with metering() as used:
        assert vision.describe(PICTURE).description
    assert used == [Usage(model="gpt-4.1", calls=1)]


def test_an_answer_with_more_than_was_asked_for_is_taken(openai: OpenAIServer, vision: OpenAIVision) -> None:
    openai.changed = says({**GOOD, "Confidence": 0.9})
    assert vision.describe(PICTURE).description == "A dialog."


@pytest.mark.parametrize(
    ("response", "error", "said"),
    [
        (
            refused(404, "no such deployment", "DeploymentNotFound"),
            ServiceError,
            "knows no deployment 'gpt-4.1'.*check KB_VISION_MODEL",
        ),
        (refused(400, "image_url is not supported"), ServiceError, "image_url is not supported"),
        (refused(429, "too many", **{"retry-after": "20"}), TransientError, "busy"),
    ],
)
def test_failures_of_the_service_are_not_taken_for_the_image_own(
    openai: OpenAIServer, vision: OpenAIVision, response: Response, error: type[KnowledgeBaseError], said: str
) -> None:
    openai.first.append(response)
    with pytest.raises(error, match=said):
        vision.describe(PICTURE)


def test_it_travels_to_other_processes_also_after_use(vision: OpenAIVision) -> None:
    seen = vision.describe(PICTURE)
    assert pickle.loads(pickle.dumps(vision)).describe(PICTURE) == seen


@pytest.mark.slow("builds a whole knowledge base")
def test_a_server_that_is_not_ours_is_understood(tmp_path: Path) -> None:
    with aimock_server(tmp_path) as server:
        server.says({"match": {}, "response": {"content": json.dumps(GOOD)}})
        seen = OpenAIVision(Settings(openai_base_url=server.base_url)).describe(PICTURE)
        asked = server.requests()[0]
    assert seen.description == "A dialog."
    assert asked["messages"][1]["content"][0]["image_url"]["url"].startswith("data:image/png;base64,")


def prompted(folder: Path, data: bytes) -> Settings:
    """Settings that name a file with this content."""
    (folder / "prompt.txt").write_bytes(data)
    return Settings(image_prompt_file=str(folder / "prompt.txt"))


def test_without_a_file_there_is_none() -> None:
    assert own_image_prompt(Settings()) == ""
    assert prompt_version("vision-1", "") == "vision-1"


def test_it_is_the_text_of_the_file(tmp_path: Path) -> None:
    assert own_image_prompt(prompted(tmp_path, b"\xef\xbb\xbfName the window.\n")) == "Name the window."


def test_another_text_is_another_version() -> None:
    versions = [prompt_version("vision-1", text) for text in ("", "Name the window.", "Name the button.")]
    assert len(set(versions)) == 3
    assert all(version.startswith("vision-1") for version in versions)


@pytest.mark.parametrize(
    ("data", "said"),
    [(b" \n", "is empty"), (b"\xff\xfe\x00", "is not UTF-8 text"), (b"a" * 20_001, "longer than 20,000 bytes")],
)
def test_a_file_that_is_no_prompt_is_refused(tmp_path: Path, data: bytes, said: str) -> None:
    with pytest.raises(SettingsError, match=f"KB_IMAGE_PROMPT_FILE: .*prompt.txt {said}|prompt.txt is {said}"):
        own_image_prompt(prompted(tmp_path, data))


def test_a_file_that_is_not_there_is_refused(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"KB_IMAGE_PROMPT_FILE: cannot read .*nowhere.txt \(No such file"):
        own_image_prompt(Settings(image_prompt_file=str(tmp_path / "nowhere.txt")))


def test_an_analyzer_that_reads_images_by_rules_takes_none(tmp_path: Path) -> None:
    with pytest.raises(
        SettingsError, match=r"KB_ANALYZER=local describes images without a prompt of yours; unset KB_I"
    ):
        open_analyzer(prompted(tmp_path, b"Name the window."))
