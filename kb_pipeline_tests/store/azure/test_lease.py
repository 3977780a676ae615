"""Leases: one writer of a folder at a time, on whichever machine, and none is ever left behind."""

import subprocess
import sys
import threading
import time

import pytest
from azure.storage.blob import BlobLeaseClient
from upath import UPath

from kb_pipeline.store import serving as serving_module
from kb_pipeline.store.azure_account import LostRaceError
from kb_pipeline.store.files import names_in
from kb_pipeline.store.serving import leased
from kb_pipeline_tests.azurite import Containers

HOLDER = """
import sys
from kb_pipeline.store import serving as lease
from kb_pipeline.store.place import remote_path
from kb_pipeline.settings import Settings
lease.SECONDS = 15
settings = Settings()
place = remote_path(settings.serving, "serving", settings)
with lease.leased(place.fs, [place.path + "/mark"]):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def mark(serving: UPath) -> str:
    return f"{serving.path}/mark"


@pytest.fixture
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever waits gives up after a second and a half; the service is still asked for half a minute."""
    monkeypatch.setattr(serving_module, "PATIENCE", 1.5)


@pytest.mark.slow("waits until a time is over")
def test_a_marker_that_nobody_needs_is_gone_afterwards(serving: UPath, mark: str) -> None:
    with leased(serving.fs, [mark, f"{mark}-2"]) as leases:
        assert names_in(serving) == {"mark", "mark-2"}
        leases[mark].require()
    assert names_in(serving) == set()


def test_a_marker_that_tells_of_unfinished_work_stays(serving: UPath, mark: str) -> None:
    with leased(serving.fs, [mark]) as leases:
        leases[mark].is_needed = True
    assert names_in(serving) == {"mark"}
    with leased(serving.fs, [mark]) as leases:  # and is no lease any more
        leases[mark].finish()
    assert names_in(serving) == set()


@pytest.mark.slow("waits until a time is over")
def test_a_second_holder_waits_until_the_first_is_done(serving: UPath, mark: str) -> None:
    order: list[str] = []

    def second() -> None:
        with leased(serving.fs, [mark]):
            order.append("second")

    with leased(serving.fs, [mark]):
        waiting = threading.Thread(target=second)
        waiting.start()
        time.sleep(0.5)
        order.append("first")
    waiting.join(30)
    assert order == ["first", "second"]


@pytest.mark.slow("waits until a time is over")
@pytest.mark.usefixtures("impatient")
def test_who_waits_in_vain_holds_nothing_and_may_try_again(serving: UPath, mark: str) -> None:
    with leased(serving.fs, [mark]):
        with pytest.raises(LostRaceError, match="somebody else"), leased(serving.fs, [f"{mark}-0", mark, f"{mark}-2"]):
            pass
        assert names_in(serving) == {"mark"}
        with leased(serving.fs, [f"{mark}-0", f"{mark}-2"]):
            pass


def test_a_lease_is_renewed_for_as_long_as_it_is_held(
    serving: UPath, mark: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(serving_module, "_RENEWAL", 0.1)
    with leased(serving.fs, [mark]) as leases:
        until = leases[mark].until
        time.sleep(0.5)
        assert leases[mark].until > until


def test_who_was_asleep_for_too_long_writes_no_more(serving: UPath, mark: str) -> None:
    with leased(serving.fs, [mark]) as leases:
        leases[mark].until = time.monotonic()
        with pytest.raises(LostRaceError, match="stood still too long"):
            leases[mark].require()
        with pytest.raises(LostRaceError):
            leases[mark].finish()


def test_a_lease_that_somebody_else_took_is_lost(serving: UPath, mark: str, containers: Containers) -> None:
    with leased(serving.fs, [mark]) as leases:
        other = BlobLeaseClient(containers.serving.get_blob_client("kb/mark"))
        other.break_lease(0)
        other.acquire()
        with pytest.raises(LostRaceError):
            leases[mark].renew()
        with pytest.raises(LostRaceError):
            leases[mark].finish()
    assert names_in(serving) == {"mark"}, "it is the other's now"


@pytest.mark.rare("waits as long as a lease lasts")
def test_the_lease_of_a_killed_process_ends_by_itself(
    serving: UPath, mark: str, containers: Containers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KB_SERVING", f"abfs://{containers.serving.container_name}/kb")
    monkeypatch.setenv("KB_SERVING_CONNECTION_STRING", containers.connection_string)
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", HOLDER], stdin=pipe, stdout=pipe) as holder:
        assert holder.stdout and holder.stdout.readline() == b"held\n"
        holder.kill()
        started = time.monotonic()
        with leased(serving.fs, [mark]):
            assert 5 < time.monotonic() - started < 90
