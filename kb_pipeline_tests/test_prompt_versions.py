"""A prompt changes only together with its version: results are kept, and compared, under the version."""

import pytest

from app.answering import prompts
from app.evaluating import grading
from app.judging import chat as judging
from app.network import prompts as investigating
from kb_pipeline.models import openai_vision
from kb_pipeline.steps.describe import image_fields
from kb_pipeline.steps.fingerprint import fingerprint


def of_answers() -> tuple[str, object]:
    texts = (
        prompts.TOOL_DESCRIPTION,
        prompts.AGENT_TEMPLATE,
        prompts.ROLE,
        prompts.RULES,
        prompts.RETRIEVE_FIRST_INSTRUCTIONS,
    )
    told = prompts.NO_MORE_SEARCHES, prompts.WEB_TOOL_DESCRIPTION, prompts.SEARCH_MARKERS, prompts.MARKERS_ANSWERED
    return prompts.PROMPT_VERSION, (*texts, *told)


def of_investigating() -> tuple[str, object]:
    files = [investigating.read(name) for name in investigating.FILES]
    return investigating.PROMPT_VERSION, [*files, investigating.RECOVERY, investigating.NO_MORE_CALLS]


def of_grading() -> tuple[str, object]:
    return grading.GRADING_VERSION, (grading.GRADING_INSTRUCTIONS, grading.Judgement.model_json_schema())


def of_judging() -> tuple[str, object]:
    return judging.JUDGING_VERSION, (judging.JUDGING_INSTRUCTIONS, judging.JudgedStatements.model_json_schema())


def of_image_fields() -> tuple[str, object]:
    return image_fields.FIELDS_VERSION, [list(field) for field in image_fields.IMAGE_FIELDS]


def of_vision() -> tuple[str, object]:
    return openai_vision.PROMPT_VERSION.partition("/")[0], (openai_vision.INSTRUCTIONS, openai_vision.PIXELS)


@pytest.mark.parametrize(
    ("prompt", "version", "texts"),
    [
        (of_answers, "5", "940f2a246bf6"),
        (of_investigating, "2", "95d52dc933e9"),
        (of_grading, "1", "41fb29926aad"),
        (of_judging, "1", "04d6a8246b42"),
        (of_image_fields, "1", "b98cf8285c6e"),
        (of_vision, "vision-1", "3a766e990ba5"),
    ],
)
def test_a_changed_text_has_a_new_version(prompt, version: str, texts: str) -> None:
    known, today = (version, texts), (prompt()[0], fingerprint(prompt()[1])[:12])
    assert today == known, "raise the version of this prompt, then write both here"
