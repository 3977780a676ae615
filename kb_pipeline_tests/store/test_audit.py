"""The audit log has whole lines, each by one write, without words unless told, and is in nobody's way."""

import errno
import json
import logging
import os
import stat
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import get_args

import pytest

from kb_pipeline.errors import StorageError
from kb_pipeline.settings import Settings
from kb_pipeline.store.audit import READING, Action, AuditLine, AuditLog, read_audit
from kb_pipeline.telemetry import AUDIT

ACTIONS: list[Action] = [action for literal in get_args(Action) for action in get_args(literal) or (literal,)]


def log(settings: Settings, **changed: object) -> AuditLog:
    return AuditLog(settings.model_copy(update={"audit": "all", **changed}))


def lines(settings: Settings) -> list[AuditLine]:
    found = list(read_audit(settings.home_path / "audit"))
    assert not [line for line in found if isinstance(line, str)]
    return [line for line in found if isinstance(line, AuditLine)]


@pytest.mark.parametrize(
    ("level", "recorded"), [("off", set()), ("changes", set(ACTIONS) - READING), ("all", set(ACTIONS))]
)
def test_the_setting_says_what_is_recorded(settings: Settings, level: str, recorded: set[str]) -> None:
    audit = log(settings, audit=level)
    for action in ACTIONS:
        audit.add(action, "ann", "service")
    assert {line.action for line in lines(settings)} == recorded
    assert (settings.home_path / "audit").exists() == bool(recorded)


def test_a_line_says_who_did_what_when_and_its_words_only_if_told(settings: Settings) -> None:
    log(settings).add("ask", "ann", "service", articles=["layers"], about="r1", text="What does Bob earn?")
    [line] = lines(settings)
    assert (line.who, line.action, line.outcome, line.articles, line.about) == ("ann", "ask", "done", ("layers",), "r1")
    assert line.at.endswith("+00:00")
    assert line.text == ""
    log(settings, audit_texts=True).add("ask", "ann", "service", text="What?" * 1000)
    assert len(lines(settings)[1].text) <= 2001


def test_only_the_owner_reads_it(settings: Settings) -> None:
    before = os.umask(0)
    try:
        log(settings).add("remove", "ann", "pipeline")
    finally:
        os.umask(before)
    [file] = (settings.home_path / "audit").iterdir()
    assert (stat.S_IMODE(file.stat().st_mode), stat.S_IMODE(file.parent.stat().st_mode)) == (0o600, 0o700)


def test_many_writers_add_whole_lines(settings: Settings) -> None:
    def write(number: int) -> None:
        audit = log(settings)  # opened anew, as in another process
        for _ in range(50):
            audit.add("open", f"user {number}", "service", articles=[f"{each}" * 200 for each in range(100)])

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(write, range(4)))
    assert len(lines(settings)) == 200


def test_no_article_is_left_out_however_many_were_read_at_once(settings: Settings) -> None:
    log(settings).add("tool", "ann", "service", articles=[f"a{number}" for number in range(201)], about="list")
    assert [len(line.articles) for line in lines(settings)] == [100, 100, 1]
    assert len({article for line in lines(settings) for article in line.articles}) == 201
    assert {(line.who, line.about) for line in lines(settings)} == {("ann", "list")}


@pytest.mark.parametrize("name", ['a\n{"who": "bob"}', "a\x00b", "\ud800", "\u202e", "x" * 100_000, "\u2028", '"'])
def test_whatever_somebody_names_is_one_line(settings: Settings, name: str) -> None:
    log(settings, audit_texts=True).add("open", name, "service", articles=[name] * 100, about=name, text=name)
    [file] = (settings.home_path / "audit").iterdir()
    assert file.read_bytes().count(b"\n") == 1
    assert file.read_bytes().isascii()
    [line] = lines(settings)
    assert len(line.articles) == 100


def test_a_full_disk_is_said_once_a_minute_and_stops_nothing(
    settings: Settings, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    audit = log(settings)

    def full(*_: object) -> int:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(os, "write", full)
        for _ in range(3):
            audit.add("open", "ann", "service")
    assert "make room on it" in audit.problem
    assert [record.levelname for record in caplog.records if "audit log" in record.message] == ["ERROR"]
    audit.add("open", "ann", "service")
    assert audit.problem == ""
    assert len(lines(settings)) == 1


def test_a_line_that_was_cut_off_stays_alone_and_is_told_of(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    audit, write = log(settings), os.write
    with monkeypatch.context() as patched:
        patched.setattr(os, "write", lambda file, data: write(file, data[:20]))
        audit.add("open", "ann", "service")
    assert audit.problem
    audit.add("open", "bob", "service")
    problem, line = read_audit(audit.folder)
    assert "1 damaged line" in str(problem)
    assert isinstance(line, AuditLine)
    assert line.who == "bob"


def test_a_folder_that_cannot_be_written_is_named_by_the_check(settings: Settings) -> None:
    settings.home_path.mkdir()
    (settings.home_path / "audit").write_text("a file")
    audit = log(settings)
    with pytest.raises(StorageError, match="nothing is recorded in the audit log"):
        audit.check()
    audit.add("open", "ann", "service")
    assert audit.problem
    assert log(settings, audit="off").check() == "off"


def test_a_link_is_not_followed(settings: Settings, tmp_path: Path) -> None:
    audit = log(settings)
    audit.add("open", "ann", "service")
    [file] = audit.folder.iterdir()
    file.unlink()
    file.symlink_to(tmp_path / "elsewhere")
    audit.add("open", "ann", "service")
    assert audit.problem
    assert not (tmp_path / "elsewhere").exists()


def test_files_of_days_that_are_not_kept_are_removed_and_nothing_else(settings: Settings) -> None:
    folder = settings.home_path / "audit"
    folder.mkdir(parents=True)
    for name in ("2020-01-01.host.0.jsonl", "2020-01-01.notes.txt", "2999-01-01.host.0.jsonl"):
        (folder / name).touch()
    log(settings, audit_days=0).add("open", "ann", "service")
    assert len(list(folder.iterdir())) == 4
    log(settings, audit_days=30).add("open", "ann", "service")
    assert "2020-01-01.host.0.jsonl" not in {path.name for path in folder.iterdir()}
    assert len(list(folder.iterdir())) == 3


def test_each_line_is_a_log_record_for_telemetry_as_well(settings: Settings, caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, AUDIT)
    log(settings).add("accept", "ann", "service", articles=["layers"])
    [record] = [record for record in caplog.records if record.name == AUDIT]
    assert json.loads(record.message)["articles"] == ["layers"]


def test_a_file_in_the_place_of_the_log_is_no_empty_log(tmp_path: Path) -> None:
    place = tmp_path / "audit"
    place.write_text("")
    with pytest.raises(StorageError, match=f"cannot list {place}.*a file stands where a folder is needed"):
        list(read_audit(place))
