"""The home folder is closed to other users where we make it, and where it was made by us before; else it is said."""

import asyncio
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import pytest

from app.conversations import open_conversations
from app.settings import AppSettings
from kb_pipeline.cli.instance import dagster_environment
from kb_pipeline.errors import StorageError
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings
from kb_pipeline.store.home import HOME_CONTENTS, exposure, make_private
from kb_pipeline.upkeep.check import check_connections
from kb_pipeline_tests.conftest import Article, Build


def permissions(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


@pytest.fixture(autouse=True)
def _generous_umask() -> Iterator[None]:
    before = os.umask(0)
    yield
    os.umask(before)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "parent" / "home"


def test_it_is_made_for_its_owner_only_by_whatever_comes_first(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("DAGSTER_HOME", raising=False)
    settings = Settings(home=str(folder))
    Workspace(settings)
    assert permissions(folder) == 0o700
    other = Settings(home=str(folder.parent / "other"))
    dagster_environment(other)
    assert permissions(other.home_path) == permissions(other.home_path / "dagster") == 0o700


def test_so_it_is_by_the_first_conversation(folder: Path) -> None:
    async def ask() -> None:
        store = open_conversations(AppSettings(), Settings(home=str(folder)))
        await store.conversations("nobody", 1)
        await store.close()

    asyncio.run(ask())
    assert permissions(folder) == 0o700
    assert permissions(folder / "conversations.db") == 0o600


@pytest.mark.parametrize("before", [0o755, 0o775, 0o777, 0o750])
def test_one_that_was_made_before_is_closed(folder: Path, before: int) -> None:
    (folder / "state").mkdir(parents=True)
    folder.chmod(before)
    make_private(folder)
    assert permissions(folder) == 0o700
    assert exposure(folder) == ""


def test_a_link_to_it_is_followed(folder: Path, tmp_path: Path) -> None:
    folder.mkdir(parents=True)
    (tmp_path / "link").symlink_to(folder)
    make_private(tmp_path / "link")
    assert permissions(folder) == 0o700


def test_what_a_build_makes_is_known_to_be_ours(settings: Settings, article: Article, build_here: Build) -> None:
    article("layers", "<h1>Layers</h1><p>Crop a layer to what it shows.</p>")
    build_here()
    assert {path.name for path in settings.home_path.iterdir()} <= HOME_CONTENTS
    assert permissions(settings.home_path) == 0o700


def test_a_folder_that_holds_other_things_too_stays_open_and_that_is_said(folder: Path) -> None:
    (folder / "holiday-pictures").mkdir(parents=True)
    folder.chmod(0o755)
    make_private(folder)
    assert permissions(folder) == 0o755
    assert "open to everybody on this machine" in exposure(folder)
    assert f"chmod go-rwx {folder}" in exposure(folder)


def test_a_folder_that_a_group_shares_on_purpose_stays_shared(folder: Path) -> None:
    folder.mkdir(parents=True)
    folder.chmod(0o2770)
    make_private(folder)
    assert permissions(folder) == 0o2770
    assert exposure(folder) == ""
    folder.chmod(0o2775)
    assert f"chmod o-rwx {folder}" in exposure(folder)


def test_a_folder_for_all_with_the_sticky_bit_is_never_closed(folder: Path) -> None:
    folder.mkdir(parents=True)
    folder.chmod(0o1777)
    make_private(folder)
    assert permissions(folder) == 0o1777
    assert exposure(folder)


def test_a_file_system_that_keeps_its_permissions_is_no_hindrance(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder.mkdir(parents=True)
    folder.chmod(0o777)

    def refuse(*_: object) -> None:
        raise PermissionError(1, "Operation not permitted")

    monkeypatch.setattr(Path, "chmod", refuse)
    make_private(folder)
    assert "open to everybody" in exposure(folder)


def test_a_folder_of_another_user_is_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder.mkdir(mode=0o700, parents=True)
    owner = folder.stat().st_uid or 4711
    if os.geteuid() == 0:
        os.chown(folder, owner, -1)
    monkeypatch.setattr(os, "geteuid", lambda: owner + 1)
    assert f"belongs to another user ({owner})" in exposure(folder)


def test_a_check_of_the_settings_says_who_can_look_into_it(settings: Settings) -> None:
    workspace = Workspace(settings)
    checks = {check.role: check for check in check_connections(workspace)}
    assert checks["home"].found == "closed to other users"
    settings.home_path.chmod(0o1777)
    checks = {check.role: check for check in check_connections(workspace)}
    assert "chmod go-rwx" in checks["home"].problem


def test_a_home_that_cannot_be_made_is_said_by_who_writes_and_keeps_no_reader_from_starting(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    settings = Settings(home=str(tmp_path / "file" / "home"))
    Workspace(settings)
    with pytest.raises(StorageError, match="set KB_HOME"):
        dagster_environment(settings)
