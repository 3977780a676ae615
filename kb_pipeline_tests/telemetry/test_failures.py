"""A failure arrives although the process that reports it ends at once, as the processes of runs do."""

import multiprocessing
from pathlib import Path

import pytest

from kb_pipeline.telemetry.failures import report_failure
from kb_pipeline_tests.collectors import attributes, collecting

ADDRESS = "http://me:planted-secret@host"


def fail() -> None:
    report_failure(f"no answer from {ADDRESS}", article="broken", asset="", error=ADDRESS, run_id="run-1")


@pytest.mark.slow("starts the service and a collector")
@pytest.mark.parametrize("kind", ["http", "grpc"])
def test_it_arrives_from_a_process_that_ends_at_once_and_without_secrets(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with collecting(kind, tmp_path) as collector:
        for name, value in collector.environment.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setenv("OTEL_BLRP_SCHEDULE_DELAY", "60000")  # later than the end
        process = multiprocessing.get_context("spawn").Process(target=fail)
        process.start()
        process.join()
    (record,) = collector.logs()
    assert record.body.string_value == "no answer from http://me:***@host"
    expected = {"kb.article": "broken", "kb.error": "http://me:***@host", "kb.run_id": "run-1"}
    assert attributes(record.attributes) == expected
