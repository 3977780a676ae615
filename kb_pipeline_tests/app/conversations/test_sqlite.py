"""Conversations in a SQLite file keep every promise, also when the file or its disk does not."""

import asyncio
import os
import shutil
import signal
import sqlite3
import stat
import subprocess
import sys
import threading
from pathlib import Path
from types import SimpleNamespace

import pytest

from app.conversations.entries import entry
from app.conversations.sqlite import SCHEMA_VERSION, SQLiteConversations, open_file
from app.schema.conversations import Feedback
from kb_pipeline.errors import StorageError
from kb_pipeline_tests.app.conversations.conversations_contract import ConversationsContract
from kb_pipeline_tests.app.conversations.sayings import Stores, answered, ask, listed, titles

pytestmark = pytest.mark.anyio


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "home" / "conversations.db"


@pytest.fixture
def stores(path: Path) -> Stores:
    return lambda: SQLiteConversations(path)


class TestSQLiteConversations(ConversationsContract):
    pass


# --- the file ------------------------------------------------------------------------------------


async def test_only_its_owner_may_read_the_file(stores: Stores, path: Path) -> None:
    store = stores()
    await ask(store, "ann", "c1", "r1")
    files = list(path.parent.glob("conversations.db*"))
    assert len(files) == 3
    assert {stat.S_IMODE(file.stat().st_mode) for file in files} == {0o600}
    await store.close()
    assert list(path.parent.iterdir()) == [path]


async def test_nothing_is_made_before_it_is_needed(stores: Stores, path: Path) -> None:
    await stores().close()
    assert not path.parent.exists()


@pytest.mark.parametrize("others_look_on", [False, True])
async def test_of_what_was_deleted_no_byte_stays_in_the_file(
    stores: Stores, path: Path, *, others_look_on: bool
) -> None:
    store, other = stores(), stores()
    await ask(store, "ann", "c1", "r1", "needle in the first question " * 300)
    await ask(store, "ann", "c1", "r2", "needle in the second")
    await ask(store, "ann", "c2", "r3", "kept, and needle in a forgotten one")
    await ask(store, "ann", "c2", "r4", "kept")
    await store.rename("ann", "c2", "kept")
    await store.give_feedback("ann", "r1", Feedback(rating="down", comment="needle in a comment"))
    if others_look_on:
        await other.conversation("ann", "c1")
    await store.delete("ann", "c1")
    await store.forget("ann", "c2", "r3")
    assert b"needle" not in b"".join(file.read_bytes() for file in path.parent.iterdir())
    assert await titles(store, "ann") == ["kept"]
    await store.close()
    await other.close()


async def test_a_file_of_a_newer_version_is_left_alone(stores: Stores, path: Path) -> None:
    path.parent.mkdir()
    with sqlite3.connect(path) as file:
        file.execute(f"PRAGMA user_version={SCHEMA_VERSION + 1}")
    with pytest.raises(StorageError, match=r"newer version of this program.*install that version"):
        await stores().conversations("ann")


async def test_the_file_of_another_program_is_left_alone(stores: Stores, path: Path) -> None:
    path.parent.mkdir()
    with sqlite3.connect(path) as file:
        file.execute("CREATE TABLE theirs (x)")
    with pytest.raises(StorageError, match="database of another program; move it away"):
        await stores().conversations("ann")


@pytest.mark.parametrize("spoil", ["overwritten", "a page", "cut"])
async def test_a_damaged_file_is_said_to_be_damaged_until_it_is_moved_away(
    stores: Stores, path: Path, spoil: str
) -> None:
    store = stores()
    for number in range(40):
        await ask(store, "ann", f"c{number}", f"r{number}", "How? " * 200)
    await store.close()
    whole = path.read_bytes()
    page = 4096
    spoilt = {
        "overwritten": b"not a database " * 1000,
        "a page": whole[:page] + os.urandom(len(whole) - page),
        "cut": whole[: page + 100],
    }
    path.write_bytes(spoilt[spoil])
    store = stores()
    for _ in range(2):
        with pytest.raises(StorageError, match=r"conversations\.db \(.*\): it is damaged; put a backup in its place"):
            await store.conversations("ann")
    path.rename(path.with_suffix(".damaged"))
    assert await listed(store, "ann") == []
    await store.close()


async def test_a_file_that_another_program_locks_is_said_to_be_locked(
    stores: Stores, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.conversations.sqlite._BUSY_SECONDS", 0.1)
    store = stores()
    await ask(store, "ann", "c1", "r1")
    lock = sqlite3.connect(path, isolation_level=None)
    lock.execute("BEGIN IMMEDIATE")
    with pytest.raises(StorageError, match=r"another program keeps it locked; close that one"):
        await ask(store, "ann", "c1", "r2")
    assert await listed(store, "ann") == ["c1"]
    lock.close()
    await ask(store, "ann", "c1", "r2")
    await store.close()


async def test_a_file_that_another_process_is_just_making_is_waited_for(stores: Stores, path: Path) -> None:
    path.parent.mkdir()
    other = sqlite3.connect(path, isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    threading.Timer(0.3, other.close).start()
    store = stores()
    assert await listed(store, "ann") == []
    await store.close()


async def test_a_full_disk_is_said_to_be_full_and_loses_nothing(
    stores: Stores, path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = stores()
    await ask(store, "ann", "c1", "r1")
    await store.close()

    def open_full(path: Path) -> sqlite3.Connection:
        file = open_file(path)
        file.execute("PRAGMA max_page_count=1")  # the least: as many as there are
        return file

    monkeypatch.setattr("app.conversations.sqlite.open_file", open_full)
    store = stores()
    with pytest.raises(StorageError, match="its disk is full: make room"):
        await store.begin_turn("ann", "c1", "r2", "How? " * 20_000)
    assert [turn.response_id for turn in (await store.conversation("ann", "c1")).turns] == ["r1"]
    await store.close()


@pytest.mark.parametrize(
    ("obstacle", "told"),
    [
        ("a file", "a file stands where a folder is needed"),
        ("read-only", "its file system is read-only"),
        ("no right", "give the service the right"),
        ("full", "its disk is full"),
    ],
)
async def test_what_keeps_a_first_conversation_from_being_kept_is_found_before_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, obstacle: str, told: str
) -> None:
    place = tmp_path / "home"
    if obstacle == "a file":
        place.write_text("")
    elif obstacle == "read-only":
        monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_flag=os.ST_RDONLY))
    elif obstacle == "no right":
        monkeypatch.setattr(os, "access", lambda *_: False)
    else:
        monkeypatch.setattr(shutil, "disk_usage", lambda _: SimpleNamespace(free=0))
    with pytest.raises(StorageError, match=told):
        await SQLiteConversations(place / "conversations.db").probe()
    assert not place.is_dir()


async def test_what_is_in_the_way_is_said(tmp_path: Path) -> None:
    (tmp_path / "home").write_text("a file")
    with pytest.raises(StorageError, match="a file stands where a folder is needed: move it away"):
        await SQLiteConversations(tmp_path / "home" / "conversations.db").conversations("ann")
    with pytest.raises(StorageError, match="a folder stands where a file is needed: move it away"):
        await SQLiteConversations(tmp_path).conversations("ann")


# --- processes -------------------------------------------------------------------------------------


async def test_opening_the_file_again_does_not_let_go_of_it(stores: Stores, path: Path) -> None:
    first = open_file(path)
    first.execute("INSERT INTO conversations VALUES ('ann', 'c1', 'kept', '1', '1', 0)")
    second = open_file(path)
    leave = (
        "import sqlite3, sys; file = sqlite3.connect(sys.argv[1]); file.execute('SELECT * FROM entries'); file.close()"
    )
    subprocess.run([sys.executable, "-c", leave, str(path)], check=True)
    # who closes a file that nobody else holds removes its log, into which the others would still write
    assert path.with_name(f"{path.name}-wal").exists()
    first.execute("INSERT INTO conversations VALUES ('ann', 'c2', 'kept too', '2', '2', 0)")
    assert await asyncio.to_thread(_titles_elsewhere, path) == "kept too kept"
    first.close()
    second.close()


def _titles_elsewhere(path: Path) -> str:
    look = "import sqlite3, sys; print(*next(zip(*sqlite3.connect(sys.argv[1]).execute(sys.argv[2]))))"
    command = [sys.executable, "-c", look, str(path), "SELECT title FROM conversations ORDER BY id DESC"]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout.strip()


_WRITER = """
import asyncio, sys
from pathlib import Path
from types import SimpleNamespace
from app.conversations.sqlite import SQLiteConversations
from kb_pipeline_tests.app.conversations.sayings import ask

async def talk(path, writer, turns):
    store = SQLiteConversations(Path(path))
    for number in range(int(turns)):
        await ask(store, "ann", "c1", f"r{writer}-{number}", f"{writer} {number}? " * 50)
        print(number, flush=True)
    await store.close()

asyncio.run(talk(*sys.argv[1:]))
"""


def _writer(path: Path, writer: int, turns: int) -> "subprocess.Popen[str]":
    command = [sys.executable, "-c", _WRITER, str(path), str(writer), str(turns)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True)


@pytest.mark.slow("builds a whole knowledge base")
async def test_what_several_processes_add_at_once_is_all_there_and_in_order(stores: Stores, path: Path) -> None:
    processes = [_writer(path, writer, 40) for writer in range(3)]
    assert [await asyncio.to_thread(process.wait, 60) for process in processes] == [0, 0, 0]
    store = stores()
    turns = (await store.conversation("ann", "c1")).turns
    assert len(turns) == 120
    for writer in range(3):
        mine = [turn.response_id for turn in turns if turn.response_id.startswith(f"r{writer}-")]
        assert mine == [f"r{writer}-{number}" for number in range(40)]
    await store.close()


@pytest.mark.slow("builds a whole knowledge base")
async def test_who_is_killed_while_adding_has_lost_nothing_that_was_kept(stores: Stores, path: Path) -> None:
    for writer in range(3):
        process = _writer(path, writer, 100_000)
        assert process.stdout
        said = [int(await asyncio.to_thread(process.stdout.readline)) for _ in range(20 + writer)]
        process.send_signal(signal.SIGKILL)
        said += [int(line) for line in process.stdout.read().split("\n")[:-1] if line]
        process.wait()
        store = stores()
        turns = (await store.conversation("ann", "c1")).turns
        mine = [turn for turn in turns if turn.response_id.startswith(f"r{writer}-")]
        assert [turn.response_id for turn in mine] == [f"r{writer}-{number}" for number in range(len(mine))]
        assert len(mine) >= len(said)
        assert all(turn.answer for turn in mine[:-1])
        assert (await store.conversations("ann")).conversations[0].turns == len(turns)
        await store.close()
    with sqlite3.connect(path) as file:
        assert file.execute("PRAGMA integrity_check").fetchone() == ("ok",)


# --- size ------------------------------------------------------------------------------------------


@pytest.mark.slow("builds a whole knowledge base")
async def test_a_thousand_conversations_are_listed(stores: Stores) -> None:
    store = stores()
    for number in range(1000):
        await store.begin_turn("ann", f"c{number}", f"r{number}", "How do I clear a paper jam? " * 5)
    await store.append("ann", "c1", [entry("item", "r1", {"text": "x" * 5000})])
    assert await store.finish_turn("ann", "c1", answered("r1"))
    assert len(await listed(store, "ann")) == 1000
    await store.close()
