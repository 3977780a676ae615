"""Lets a trace begin with the caller: a program sends the spans of its calls, and the calls name their trace.

Without a destination in the environment nothing is traced (:mod:`kb_pipeline.telemetry`).
"""

from app.logs.redacting import hidden
from kb_pipeline.telemetry.destinations import read_destinations


def trace_calls(program: str, *, record_content: bool) -> bool:
    """Send traces and logs of this process under the name of the program; returns whether there is a destination.

    Raises:
        MissingExtraError: the destination is Azure Monitor, and its exporter is not installed.
        SettingsError: a destination is malformed.
    """
    destinations = read_destinations()
    if not destinations:
        return False
    from kb_pipeline.telemetry.outgoing import trace_calls_of_a_client, trace_outgoing_calls
    from kb_pipeline.telemetry.process import start

    start(destinations, program, hidden, record_content=record_content)
    trace_outgoing_calls()  # the SDK by which answers are streamed
    trace_calls_of_a_client()
    return True
