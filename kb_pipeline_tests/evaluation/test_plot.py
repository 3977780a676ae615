"""The picture of the history."""

from io import BytesIO

import pytest
from PIL import Image

from kb_pipeline.evaluation.plot import plot_history
from kb_pipeline.evaluation.records import EvaluationRun, Score
from kb_pipeline_tests.evaluation.known import run


def measured(number: int, value: float = 0.8, **more: object) -> EvaluationRun:
    score = Score(value=value, low=value - 0.1, high=value + 0.1, n=50)
    scores = {name: {"all": score, "paraphrase": score} for name in ("article@5", "MRR@10", "span@5")}
    return run(number, **({"scores": scores, "accepted": True} | more))


@pytest.mark.parametrize("count", [1, 2, 7, 60])
def test_however_many_runs_there_are_it_is_a_small_light_picture(count: int) -> None:
    data = plot_history([measured(number, generation=f"g{number // 3}") for number in range(count)])
    picture = Image.open(BytesIO(data)).convert("RGB")
    assert picture.size == (900, 340)
    assert picture.getpixel((1, 1)) == (255, 255, 255)
    assert len(data) < 100_000


def test_runs_without_scores_do_no_harm() -> None:
    empty = measured(1, scores={})
    for runs in ([empty], [measured(0), empty, measured(2, accepted=False)]):
        assert plot_history(runs).startswith(b"\x89PNG")


def test_what_is_shown_follows_the_scores() -> None:
    assert plot_history([measured(0, 0.8)]) == plot_history([measured(0, 0.8)])
    assert plot_history([measured(0, 0.8)]) != plot_history([measured(0, 0.6)])
