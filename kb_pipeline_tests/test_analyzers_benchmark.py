"""The benchmark of analyzers says what was measured, what was left out, and that stand-ins measure nothing."""

from benchmarks.analyzers import table

ROW = {
    "converted": 2,
    "failed": {"ServiceError": 1},
    "words": 0.98,
    "images": 4,
    "images_right": 3,
    "links": 2,
    "links_right": 2,
    "refused": 1,
    "seconds_each": 0.5,
    "cost": None,
    "descriptions": {"images": 1, "failed": {}, "seconds_each": 2.0, "cost": 0.01},
}


def report(*, doubles: bool) -> dict[str, object]:
    results = {"local": ROW, "mistral-doc-ai": {"left_out": "KB_MISTRAL_ENDPOINT is not set"}}
    return {"material": 3, "at": "2026-11-25T00:00:00", "doubles": doubles, "results": results}


def test_each_analyzer_has_a_row_or_a_reason() -> None:
    lines = table(report(doubles=False)).splitlines()
    assert "| local | 2, 1 failed | 0.980 | 3 of 4 | 2 of 2 | 1 | 0.5 | no price set | 2.0 | 0.01 |" in lines
    assert any(line.startswith("| mistral-doc-ai | left out: KB_MISTRAL_ENDPOINT is not set |") for line in lines)


def test_stand_ins_are_called_so() -> None:
    assert "plumbing only" in table(report(doubles=True))
    assert "plumbing only" not in table(report(doubles=False))
