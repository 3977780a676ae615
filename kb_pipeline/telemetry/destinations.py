"""Where traces, metrics and logs go, as the environment says. Nothing of OpenTelemetry is imported here."""

import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from importlib.util import find_spec
from typing import Literal, get_args
from urllib.parse import urlsplit

from dotenv import dotenv_values

from kb_pipeline.errors import MissingExtraError, SettingsError
from kb_pipeline.secrets import credentials_in
from kb_pipeline.settings import Settings

Signal = Literal["traces", "metrics", "logs"]
Protocol = Literal["grpc", "http/protobuf"]

SIGNALS: tuple[Signal, ...] = get_args(Signal)
AZURE_MONITOR = "APPLICATIONINSIGHTS_CONNECTION_STRING"
_CONSOLE = "ENABLE_CONSOLE_EXPORTERS"
_ENDPOINT, _PROTOCOL = "OTEL_EXPORTER_OTLP_{}ENDPOINT", "OTEL_EXPORTER_OTLP_{}PROTOCOL"
_GRPC_PORTS = (4317, 18889)
"""OTLP's own port for gRPC, and that of the Aspire dashboard."""


@dataclass(frozen=True)
class Destinations:
    """The signals that are sent by OTLP, each with its protocol; where else they go."""

    otlp: Mapping[Signal, Protocol] = field(default_factory=dict)
    azure_monitor: str = field(default="", repr=False)
    console: bool = False

    def of(self, signal: Signal) -> bool:
        """Whether the signal is sent anywhere."""
        return signal in self.otlp or bool(self.azure_monitor) or self.console

    def __bool__(self) -> bool:
        return any(map(self.of, SIGNALS))


def read_destinations() -> Destinations:
    """The destinations in the environment or in ``.env``; those of ``.env`` become part of the environment.

    Exporters read their other variables (headers, time limits, certificates) from there.

    Raises:
        SettingsError: an address contains credentials, which exporters would log, or a protocol is not known.
        MissingExtraError: a destination is Azure Monitor, and its exporter is not installed.
    """
    file = Settings.model_config.get("env_file")
    for name, value in dotenv_values(str(file or os.devnull)).items():
        if value is not None and (name.startswith("OTEL_") or name in (AZURE_MONITOR, _CONSOLE)):
            os.environ.setdefault(name, value)
    azure_monitor = os.environ.get(AZURE_MONITOR, "").strip()
    if azure_monitor and not _is_installed("azure", "monitor", "opentelemetry", "exporter"):
        raise MissingExtraError(AZURE_MONITOR, "azure-monitor")
    return Destinations(
        dict(_by_otlp()),
        azure_monitor,
        os.environ.get(_CONSOLE, "").lower() in ("true", "1", "yes", "on"),
    )


def _is_installed(*names: str) -> bool:
    """Whether a package is there, without the time that importing it takes."""
    return all(find_spec(".".join(names[:count])) for count in range(1, len(names) + 1))


def _by_otlp() -> Iterator[tuple[Signal, Protocol]]:
    for signal in SIGNALS:
        if address := _setting(_ENDPOINT, signal)[1]:
            yield signal, _protocol(signal, address)


def _setting(name: str, signal: Signal) -> tuple[str, str]:
    """The name and the value of a variable of the signal, else of the one for all signals."""
    names = (name.format(f"{signal.upper()}_"), name.format(""))
    variable = next((each for each in names if os.environ.get(each, "").strip()), names[-1])
    value = os.environ.get(variable, "").strip()
    if name == _ENDPOINT and (credentials := credentials_in(value)):
        raise SettingsError(
            f"{variable}: the address contains {credentials}, which exporters would log; set "
            "OTEL_EXPORTER_OTLP_HEADERS (authorization=Basic%20...)"
        )
    return variable, value


def _protocol(signal: Signal, address: str) -> Protocol:
    name, value = _setting(_PROTOCOL, signal)
    for protocol in get_args(Protocol):
        if value == protocol:
            return protocol  # type: ignore[no-any-return]
    if value:
        raise SettingsError(f"{name} is {value!r}; it must be one of {', '.join(get_args(Protocol))}")
    return "grpc" if _port(address) in _GRPC_PORTS else "http/protobuf"


def _port(address: str) -> int | None:
    try:
        return urlsplit(address if "://" in address else f"//{address}").port
    except ValueError:
        raise SettingsError(f"the address of an OTEL_EXPORTER_OTLP endpoint, {address!r}, has no valid port") from None
