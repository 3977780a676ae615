"""The main loop of a limited process: receives calls from the supervisor and sends back their results."""

import faulthandler
import signal
import sys
import traceback
from multiprocessing.connection import Connection

from kb_pipeline.limited.activity import reporter
from kb_pipeline.limited.garbage import collect_seldom


def main(descriptor: int) -> None:
    """Serve the supervisor at the other end of the socket ``descriptor``, until it is gone."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C reaches the whole process group; the supervisor decides
    collect_seldom()
    connection = Connection(descriptor)
    reporter.open(connection)
    try:
        while True:
            kind, value = _receive_and_call(connection)
            faulthandler.cancel_dump_traceback_later()
            _send(kind, value)
    except (EOFError, BrokenPipeError, ConnectionResetError):
        sys.exit(0)  # the supervisor is gone


def _receive_and_call(connection: Connection) -> tuple[str, object]:
    try:
        function, arguments, seconds = connection.recv()  # imports the function's module
    except (EOFError, ConnectionResetError):
        raise
    except Exception as exc:
        return "error", exc
    reporter.begin(seconds)
    try:
        return "result", function(*arguments)
    except Exception as exc:
        exc.add_note(traceback.format_exc())  # a traceback cannot be pickled
        return "error", exc


def _send(kind: str, value: object) -> None:
    try:
        reporter.send(kind, value)
    except (BrokenPipeError, ConnectionResetError):
        raise
    except Exception as exc:  # the value cannot be pickled
        reporter.send("error", TypeError(f"the result cannot be sent to another process: {exc}"))
