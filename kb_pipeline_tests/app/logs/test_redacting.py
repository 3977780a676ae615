"""What the service and the page log: where a failure was, but no secret and no id of a response."""

import logging
import re
import subprocess
import sys
from pathlib import Path

import pytest

from app.logs.redacting import RedactingFormatter
from kb_pipeline.errors import StorageError
from kb_pipeline.settings import Settings
from kb_pipeline_tests.app.service_process import service_process

ASKED = {"input": "How do I crop a layer?"}
SECRETS = ("http://me:planted-secret@host/x", "GET /c?sv=1&sig=planted-secret", "api-key: planted-secret")


@pytest.mark.parametrize("said", SECRETS)
def test_neither_a_message_nor_a_traceback_holds_a_secret(said: str) -> None:
    try:
        raise OSError(said)
    except OSError as exc:
        record = logging.LogRecord("library", logging.ERROR, "", 1, "refused: %s", (said,), (OSError, exc, None))
    written = RedactingFormatter("%(message)s").format(record)
    assert written.count("***") == 2
    assert "planted" not in written


def test_what_was_raised_on_purpose_is_one_line_whoever_logs_it() -> None:
    try:
        raise LookupError("refused") from StorageError("x.db is damaged; put a backup in its place")
    except LookupError as exc:
        record = logging.LogRecord("library", logging.ERROR, "", 1, "failed: %s", ("a",), (LookupError, exc, None))
    assert RedactingFormatter("%(message)s").format(record) == (
        "failed: a (x.db is damaged; put a backup in its place)"
    )


def test_uvicorn_logs_like_everybody_else(tmp_path: Path) -> None:
    program = (
        "import logging, uvicorn\n"
        "from app.logs.redacting import configure_logging\n"
        "configure_logging()\n"
        "uvicorn.Config('app.none:none', log_level='warning', log_config=None)\n"
        f"logging.getLogger('uvicorn.error').error({SECRETS[0]!r})\n"
        f"logging.getLogger('httpx').info({SECRETS[0]!r})\n"
    )
    ended = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60, check=True)
    (line,) = ended.stderr.splitlines()
    assert line.endswith("ERROR uvicorn.error: http://me:***@host/x")


@pytest.mark.slow("starts the service and a collector")
def test_the_log_says_where_a_failure_was_and_names_no_response(own: Settings, tmp_path: Path) -> None:
    file = own.home_path / "conversations.db"
    file.write_text("no database, but long enough to be taken for one" * 100)
    with service_process(own, tmp_path / "log") as service:
        modes = ({}, {"stream": True}, {"background": True}, {"conversation": "conv_1"})
        replies = [service.client.post("/v1/responses", json={**ASKED, **mode}) for mode in modes]
        ids = [each for reply in replies for each in re.findall(r"caresp_\w+", reply.text)]
        paths = (f"/v1/responses/{ids[0]}", f"/api/responses/{ids[0]}/answer", "/api/conversations")
        replies += [service.client.get(path) for path in paths]
        log = service.log()
    assert str(file) in log
    assert "Traceback" not in log
    assert not [each for each in ids if each in log]
    for reply in replies:
        assert file.name not in reply.text + str(reply.headers)
    assert [reply.status_code for reply in replies[-4:]] == [503] * 4
    assert all("it is damaged; put a backup in its place" in reply.text for reply in replies[-4:])
