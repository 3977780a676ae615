"""Hides secrets in spans and log records before they are exported: libraries record addresses and foreign errors."""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from opentelemetry.sdk._logs import LogRecordProcessor, ReadWriteLogRecord
from opentelemetry.sdk.trace import Span, SpanProcessor
from opentelemetry.trace import Status
from opentelemetry.util.types import AnyValue

from kb_pipeline.secrets import without_secrets

Hide = Callable[[str], str]
_ADDRESSES = frozenset({"http.url", "http.target", "url.full"})


class SpanRedactor(SpanProcessor):
    """Hides secrets in spans; the queries of addresses as well, unless they may be recorded: they hold search terms.

    The SDK has no public hook for this: an ended span cannot be changed through its methods. `_on_ending` is called
    before every exporter's `on_end`.
    """

    def __init__(self, hide: Hide = without_secrets, *, record_content: bool = True) -> None:
        self._hide, self._record_content = hide, record_content

    def _on_ending(self, span: Span) -> None:
        span._attributes = self._shown(span.attributes or {})
        description = span.status.description
        if description and self._hide(description) != description:
            span._status = Status(span.status.status_code, self._hide(description))
        for event in span.events:
            event._attributes = self._shown(event.attributes or {})

    def _shown(self, attributes: Mapping[str, Any]) -> dict[str, Any]:
        shown: dict[str, Any] = {name: hidden(value, self._hide) for name, value in attributes.items()}
        if not self._record_content:
            shown |= {name: shown[name].partition("?")[0] for name in _ADDRESSES & shown.keys()}
            shown |= dict.fromkeys({"url.query"} & shown.keys(), "")
        return shown


class LogRedactor(LogRecordProcessor):
    """Hides secrets in log records: in their text, their attributes and the stack trace among these.

    It must be added to a provider before the processors that export.
    """

    def __init__(self, hide: Hide = without_secrets) -> None:
        self._hide = hide

    def on_emit(self, log_record: ReadWriteLogRecord) -> None:
        record = log_record.log_record
        record.body = hidden(record.body, self._hide)
        record.attributes = {name: hidden(value, self._hide) for name, value in (record.attributes or {}).items()}

    def shutdown(self) -> None:
        """Nothing is kept here."""

    def force_flush(self, timeout_millis: int = 30000) -> bool:
        return True


def hidden(value: AnyValue, hide: Hide) -> AnyValue:
    """The value with the secrets hidden in all texts that it holds."""
    if isinstance(value, str):
        return hide(value)
    if isinstance(value, Mapping):
        return {name: hidden(each, hide) for name, each in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, bytes):
        return [hidden(each, hide) for each in value]
    return value
