"""``kb serve``: one for each instance, the port free, a lost process started again."""

import errno
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest
import yaml

from kb_pipeline.cli.instance import project_file
from kb_pipeline.cli.processes import (
    LOCATION,
    MODULE,
    AlreadyServedError,
    Processes,
    only_server,
    ui_url,
    who_serves,
    write_workspace,
)
from kb_pipeline.cli.serve import ListWatch
from kb_pipeline.errors import KnowledgeBaseError
from kb_pipeline.flow.access import Access
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings
from kb_pipeline_tests.building import build_here
from kb_pipeline_tests.cli.conftest import KB, Run, page
from kb_pipeline_tests.conftest import Article
from kb_pipeline_tests.ports import free_port

pytestmark = pytest.mark.slow("starts the program")


@pytest.fixture
def home(settings: Settings) -> Path:
    home = Path(settings.home) / "dagster"
    home.mkdir(parents=True)
    return home


@pytest.fixture
def served(home: Path) -> Iterator[int]:
    """Another process that holds the lock; its id."""
    code = "import sys, time, pathlib; from kb_pipeline.cli.processes import only_server\n"
    code += f"with only_server(pathlib.Path({str(home)!r}), 3456): print('held', flush=True); time.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout
        assert process.stdout.readline() == "held\n"
        yield process.pid
        process.kill()


class TestListWatch:
    """Access lists that are applied without Dagster, so that its storage may be down."""

    @pytest.fixture
    def published(self, article: Article, settings: Settings) -> Path:
        folder = article("pay", page("Pay", "The director is paid in gold coins."))
        assert build_here(settings)["pay"].error is None
        (folder / "metadata.json").write_text('{"access_control_list": ["hr"]}')
        return folder

    def test_they_apply_at_the_next_look(self, settings: Settings, published: Path) -> None:
        now = 0.0
        lists, access = ListWatch(settings, lambda: now), Workspace(settings).access
        lists.look()
        assert access.get("pay") == Access(readers=("hr",))
        (published / "metadata.json").write_text('{"access_control_list": ["it"]}')
        lists.look()
        assert access.get("pay") == Access(readers=("hr",)), "it is too early"
        now += settings.watch_seconds
        lists.look()
        assert access.get("pay") == Access(readers=("it",))

    def test_nothing_is_looked_at_unless_the_folder_is_watched(self, settings: Settings, published: Path) -> None:
        ListWatch(settings.model_copy(update={"watch": False})).look()
        assert Workspace(settings).access.get("pay") is None

    def test_a_folder_that_cannot_be_read_is_told_of_once(
        self, settings: Settings, capsys: pytest.CaptureFixture[str]
    ) -> None:
        shutil.rmtree(settings.staging)
        lists = ListWatch(settings.model_copy(update={"watch_seconds": 0}))
        lists.look()
        assert "access lists cannot be read: " in " ".join(capsys.readouterr().err.split())
        lists.look()
        assert capsys.readouterr().err == ""

    def test_a_system_that_fails_stops_nothing_that_is_served(
        self, settings: Settings, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
    ) -> None:
        def fails(_: Settings) -> None:
            raise OSError(errno.EMFILE, os.strerror(errno.EMFILE))

        monkeypatch.setitem(ListWatch.look.__globals__, "open_workspace", fails)
        ListWatch(settings).look()
        told = " ".join(capsys.readouterr().err.split())
        assert "access lists cannot be read: [Errno 24] Too many open files" in told


def test_a_second_one_says_where_the_first_is(run: Run, served: int, settings: Settings) -> None:
    said = run("serve")
    assert said.code == 0
    assert "http://127.0.0.1:3456" in said.out
    assert str(served) in said.out
    assert ui_url(settings) == "http://127.0.0.1:3456"


def test_two_sites_on_one_port_are_refused_at_once(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("KB_APP_PORT", "KB_PAGE_PORT"):
        monkeypatch.setenv(name, str(free_port()) if name == "KB_APP_PORT" else os.environ["KB_APP_PORT"])
    said = run("serve", "--port", str(free_port()))
    assert (said.code, "would both use port" in said.err) == (2, True)


def test_a_second_one_on_another_port_is_refused(run: Run, served: int) -> None:
    said = run("serve", "--port", "3457")
    assert said.code == 2
    assert f"process {served} at http://127.0.0.1:3456" in said.err


def test_the_lock_of_a_killed_one_is_free(home: Path, served: int, settings: Settings) -> None:
    with pytest.raises(AlreadyServedError), only_server(home, 1):
        pass
    os.kill(served, signal.SIGKILL)
    with only_server(home, 1):
        assert who_serves(settings).pid == os.getpid()  # type: ignore[union-attr]
    assert who_serves(settings) is None


def test_a_port_that_another_program_uses_is_explained(run: Run) -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        said = run("serve", "--dagster-only", "--port", str(other.getsockname()[1]))
    assert said.code == 2
    assert "another program uses port" in said.err


def test_our_code_server_is_the_location_that_the_workspace_file_names(tmp_path: Path) -> None:
    (module,) = [
        entry["python_module"] for entry in yaml.safe_load(project_file("workspace.yaml").read_text())["load_from"]
    ]
    assert (module["module_name"], module["location_name"]) == (MODULE, LOCATION)
    write_workspace(tmp_path / "ours.yaml", tmp_path / "socket")
    (server,) = yaml.safe_load((tmp_path / "ours.yaml").read_text())["load_from"]
    assert server["grpc_server"] == {"socket": str(tmp_path / "socket"), "location_name": LOCATION}


def test_what_is_lost_is_started_again_and_what_cannot_last_is_not(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    processes = Processes(os.environ | {"PYTHONPATH": str(tmp_path)})
    (tmp_path / "sleeper.py").write_text(
        "import os, time, pathlib; pathlib.Path(__file__).with_name(str(os.getpid())).touch(); time.sleep(60)"
    )
    try:
        processes.start("it", ["-m", "sleeper"])
        (first,) = _pids(tmp_path, 1)
        os.kill(first, signal.SIGKILL)
        _wait(lambda: not _is_running(first))
        with pytest.raises(KnowledgeBaseError, match="it stopped with exit code -9"):
            processes.keep_alive()
        monkeypatch.setattr("kb_pipeline.cli.processes._SHORTEST_LIFE", 0.0)
        processes.keep_alive()
        (second,) = _pids(tmp_path, 2) - {first}
    finally:
        processes.stop()
    assert not _is_running(second)


def _pids(folder: Path, count: int) -> set[int]:
    found: set[int] = set()

    def complete() -> bool:
        found.update(int(path.name) for path in folder.iterdir() if path.name.isdigit())
        return len(found) == count

    _wait(complete)
    return found


def _is_running(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().split()[2] != "Z"
    except OSError:
        return False


def _wait(condition) -> None:
    deadline = time.monotonic() + 20
    while not condition():
        assert time.monotonic() < deadline
        time.sleep(0.05)


def _hear_interrupts() -> None:
    # tests that run in the background of a script inherit that Ctrl-C is ignored
    signal.signal(signal.SIGINT, signal.SIG_DFL)


def test_page_service_and_dagster_are_served_and_stopped_together(
    own_environment: dict[str, str], two_articles: None, settings: Settings, tmp_path: Path
) -> None:
    build_here(settings)
    ports = {name: free_port() for name in ("KB_PAGE_PORT", "KB_APP_PORT", "KB_DAGSTER_PORT")}
    (tmp_path / "app").mkdir()  # a folder of the user's own
    (tmp_path / "app" / "__init__.py").write_text("raise SystemExit('not this one')")
    clean = {key: value for key, value in os.environ.items() if not key.startswith(("KB_", "DAGSTER_"))}
    environment = clean | own_environment | {name: str(port) for name, port in ports.items()} | {"KB_WATCH": "false"}
    service = f"http://127.0.0.1:{ports['KB_APP_PORT']}"
    with subprocess.Popen(
        [KB, "serve"],
        env=environment,
        cwd=tmp_path,
        stdout=subprocess.PIPE,
        text=True,
        preexec_fn=_hear_interrupts,
    ) as serving:
        try:
            assert serving.stdout
            said = [serving.stdout.readline() for _ in range(4)]
            assert [line.split()[-1].rpartition(":")[2] for line in said[:3]] == [str(port) for port in ports.values()]
            question = {"question": "How do I reset a password?"}
            asked = httpx.post(f"{service}/chat", json=question, timeout=60).raise_for_status()
            run_url = asked.json()["citations"][0]["origin"]["run_url"]
            assert run_url is None or run_url.startswith(f"http://127.0.0.1:{ports['KB_DAGSTER_PORT']}/runs/")
            assert httpx.get(f"http://127.0.0.1:{ports['KB_PAGE_PORT']}/", timeout=60).is_success
        finally:
            serving.send_signal(signal.SIGINT)
            serving.wait(60)
    for port in ports.values():
        with socket.socket() as probe:
            assert probe.connect_ex(("127.0.0.1", port)) != 0
