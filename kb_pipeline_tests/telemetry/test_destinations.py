"""Which signals go where, and by which protocol, as the environment says it."""

from pathlib import Path

import pytest

from kb_pipeline.errors import MissingExtraError, SettingsError
from kb_pipeline.settings import Settings
from kb_pipeline.telemetry import destinations
from kb_pipeline.telemetry.destinations import SIGNALS, read_destinations
from kb_pipeline.telemetry.providers import exporters

HTTP, GRPC = "http/protobuf", "grpc"


def set_otlp(monkeypatch: pytest.MonkeyPatch, **values: str) -> None:
    for name, value in values.items():
        monkeypatch.setenv(f"OTEL_EXPORTER_OTLP_{name}", value)


def test_nothing_is_sent_anywhere_by_default() -> None:
    assert not read_destinations()


@pytest.mark.parametrize(
    ("address", "protocol"),
    [
        ("http://localhost:4318", HTTP),
        ("https://collector.example", HTTP),
        ("http://localhost:4317", GRPC),
        ("http://localhost:18889", GRPC),  # the Aspire dashboard
        ("localhost:4317", GRPC),
    ],
)
def test_the_port_tells_the_protocol(monkeypatch: pytest.MonkeyPatch, address: str, protocol: str) -> None:
    set_otlp(monkeypatch, ENDPOINT=address)
    assert read_destinations().otlp == dict.fromkeys(SIGNALS, protocol)


def test_a_protocol_that_is_set_comes_before_the_port(monkeypatch: pytest.MonkeyPatch) -> None:
    set_otlp(monkeypatch, ENDPOINT="http://localhost:4317", PROTOCOL=HTTP)
    assert set(read_destinations().otlp.values()) == {HTTP}


def test_a_signal_may_have_an_address_and_a_protocol_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    set_otlp(monkeypatch, ENDPOINT="http://localhost:4318", LOGS_ENDPOINT="http://localhost:4317", TRACES_PROTOCOL=GRPC)
    assert read_destinations().otlp == {"traces": GRPC, "metrics": HTTP, "logs": GRPC}


def test_only_signals_with_an_address_are_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    set_otlp(monkeypatch, LOGS_ENDPOINT="http://localhost:4317")
    found = read_destinations()
    assert [signal for signal in SIGNALS if found.of(signal)] == ["logs"]


@pytest.mark.parametrize("name", ["PROTOCOL", "METRICS_PROTOCOL"])
def test_an_unknown_protocol_is_refused_by_name(monkeypatch: pytest.MonkeyPatch, name: str) -> None:
    set_otlp(monkeypatch, ENDPOINT="http://localhost:4318", **{name: "http/json"})
    with pytest.raises(SettingsError, match=f"OTEL_EXPORTER_OTLP_{name} is 'http/json'; .* grpc, http/protobuf"):
        read_destinations()


def test_an_address_without_a_valid_port_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    set_otlp(monkeypatch, ENDPOINT="http://localhost:port")
    with pytest.raises(SettingsError, match="no valid port"):
        read_destinations()


def test_a_line_in_the_env_file_is_as_good(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    file = tmp_path / ".env"
    file.write_text("OTEL_EXPORTER_OTLP_ENDPOINT=http://localhost:4317\nOTEL_EXPORTER_OTLP_HEADERS=a=b\n")
    monkeypatch.setitem(Settings.model_config, "env_file", str(file))
    for name in ("ENDPOINT", "HEADERS"):  # so that both are taken back at the end
        set_otlp(monkeypatch, **{name: ""})
        monkeypatch.delenv(f"OTEL_EXPORTER_OTLP_{name}")
    assert set(read_destinations().otlp.values()) == {GRPC}
    assert destinations.os.environ["OTEL_EXPORTER_OTLP_HEADERS"] == "a=b"


def test_application_insights_gets_all_signals(monkeypatch: pytest.MonkeyPatch) -> None:
    key = "InstrumentationKey=00000000-0000-0000-0000-000000000001"
    monkeypatch.setenv("APPLICATIONINSIGHTS_CONNECTION_STRING", f"{key};IngestionEndpoint=http://127.0.0.1:9/")
    found = read_destinations()
    assert "InstrumentationKey" not in repr(found)
    names = {type(exporter).__name__ for signal in SIGNALS for exporter in exporters(found, signal)}
    assert names == {"AzureMonitorTraceExporter", "AzureMonitorMetricExporter", "AzureMonitorLogExporter"}


def test_a_malformed_connection_string_is_refused_without_being_quoted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APPLICATIONINSIGHTS_CONNECTION_STRING", "InstrumentationKey=no-uuid")
    with pytest.raises(SettingsError, match=r"check the OTEL_. variables and APPLICATIONINSIGHTS_CONNECTION_STRING"):
        list(exporters(read_destinations(), "logs"))


def test_without_the_exporter_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("APPLICATIONINSIGHTS_CONNECTION_STRING", "InstrumentationKey=x")
    monkeypatch.setattr(destinations, "find_spec", lambda name: None if name.endswith("exporter") else name)
    with pytest.raises(MissingExtraError, match=r"pip install 'kb-pipeline\[azure-monitor\]'"):
        read_destinations()
