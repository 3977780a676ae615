"""Lines of the audit log leave the process with its other logs, and are not printed."""

import logging
from collections.abc import Iterator

import pytest
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor

from kb_pipeline.settings import Settings
from kb_pipeline.store.audit import AuditLog
from kb_pipeline.telemetry import AUDIT
from kb_pipeline.telemetry.process import _send_logs


@pytest.fixture
def sent() -> Iterator[InMemoryLogRecordExporter]:
    exporter, provider = InMemoryLogRecordExporter(), LoggerProvider()
    provider.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    root, audit = logging.getLogger(), logging.getLogger(AUDIT)
    before = ([*root.handlers], audit.level, audit.propagate)
    _send_logs(provider)
    yield exporter
    root.handlers[:], audit.level, audit.propagate = before
    audit.handlers.clear()


def test_a_line_is_sent_as_it_is_written(
    sent: InMemoryLogRecordExporter, settings: Settings, capfd: pytest.CaptureFixture[str]
) -> None:
    audit = AuditLog(settings)
    audit.add("accept", "ann", "service", articles=["layers"])
    [record] = sent.get_finished_logs()
    [file] = audit.folder.iterdir()
    assert f"{record.log_record.body}\n" == file.read_text()
    assert "layers" not in "".join(capfd.readouterr())
