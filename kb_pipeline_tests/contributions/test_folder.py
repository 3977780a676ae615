"""The queue in a folder: nothing is lost, changed or half there."""

from pathlib import Path

import pytest

from kb_pipeline.contributions import open_queue
from kb_pipeline.contributions.base import ContributionQueue, Decision
from kb_pipeline.contributions.folder import FolderQueue
from kb_pipeline.errors import ContributionDecidedError, ContributionNotFoundError, SettingsError, StorageError
from kb_pipeline.settings import Settings
from kb_pipeline_tests.contributions.conftest import contribution

ACCEPTING = Decision(state="accepting", by="bob", at="2026-02-01T08:00:00+00:00", file="/x", content="edited")
ACCEPTED = ACCEPTING.model_copy(update={"state": "accepted"})
REJECTED = Decision(state="rejected", by="bob", at="2026-02-01T08:00:00+00:00", reason="wrong")


def test_what_was_added_is_read_again_the_newest_first(queue: FolderQueue) -> None:
    assert list(queue.list()) == []
    one, two = contribution(1, content="Grüße\r\n"), contribution(2, source="feedback", contributed_by="")
    queue.add(one)
    queue.add(two)
    assert list(queue.list()) == [two, one]
    assert queue.get(one.id) == one


def test_people_can_read_the_files(queue: FolderQueue) -> None:
    queue.add(contribution(content="# Text"))
    folder = queue.folder / "20260131-00000001"
    assert sorted(file.name for file in folder.iterdir()) == ["content.md", "contribution.json"]
    assert (folder / "content.md").read_text() == "# Text"
    assert '"description": "Pitfall 1"' in (folder / "contribution.json").read_text()


def test_decisions_are_added_and_the_last_counts(queue: FolderQueue) -> None:
    for number in (1, 2, 3):
        queue.add(contribution(number))
    ids = [f"20260131-{number:08x}" for number in (1, 2, 3)]
    before = {path: path.read_bytes() for path in queue.folder.rglob("*.*") if path.is_file()}
    assert queue.decide(ids[0], ACCEPTING).state == "pending"
    assert queue.decide(ids[0], ACCEPTED).state == "accepted"
    queue.decide(ids[1], REJECTED)
    assert queue.get(ids[0]).decision == ACCEPTED
    assert [one.id for one in queue.list("pending")] == [ids[2]]
    assert [one.id for one in queue.list("rejected")] == [ids[1]]
    assert {path: path.read_bytes() for path in before} == before


@pytest.mark.parametrize("first", [ACCEPTED, REJECTED])
@pytest.mark.parametrize("second", [ACCEPTING, ACCEPTED, REJECTED])
def test_a_decision_is_final(queue: FolderQueue, first: Decision, second: Decision) -> None:
    queue.add(contribution())
    queue.decide(contribution().id, first)
    with pytest.raises(ContributionDecidedError, match=rf"{first.state} by bob on 2026-02-01"):
        queue.decide(contribution().id, second)


@pytest.mark.parametrize("name", ["20260131-00000009", "../staging", "", ".lock", "20260131-0000000G", "x" * 400])
def test_an_id_that_is_none_is_not_found(queue: FolderQueue, name: str) -> None:
    queue.add(contribution())
    with pytest.raises(ContributionNotFoundError, match="kb contributions lists them"):
        queue.get(name)


def test_a_line_that_was_cut_off_is_ignored_and_the_next_stands_alone(queue: FolderQueue) -> None:
    queue.add(contribution())
    path = queue.folder / contribution().id / "decisions.jsonl"
    path.write_bytes(b'\n{"state": "reject')
    assert queue.get(contribution().id).state == "pending"
    queue.decide(contribution().id, ACCEPTED)
    assert queue.get(contribution().id).decision == ACCEPTED


def test_half_a_contribution_is_none(queue: FolderQueue) -> None:
    queue.add(contribution(1))
    (queue.folder / ".20260131-00000002").mkdir()
    assert len(queue.list()) == 1


def test_a_damaged_contribution_is_named_and_hides_no_other(queue: FolderQueue) -> None:
    queue.add(contribution())
    whole = contribution().model_copy(update={"id": "20260131-00000002"})
    queue.add(whole)
    (queue.folder / contribution().id / "contribution.json").write_text("{")
    assert queue.list() == [whole]
    assert [one.partition(" is ")[2] for one in queue.read_all().damages] == [
        "damaged (JSONDecodeError); restore it, or move it away"
    ]
    with pytest.raises(StorageError, match=r"20260131-00000001 is damaged"):
        queue.get(contribution().id)


def test_a_decision_that_cannot_be_read_is_not_taken_for_none(queue: FolderQueue) -> None:
    queue.add(contribution())
    (queue.folder / contribution().id / "decisions.jsonl").mkdir()
    (damage,) = queue.read_all().damages
    assert "a folder stands where a file is needed: move it away" in damage
    assert queue.list("pending") == []


def test_a_file_in_the_place_of_the_queue_is_no_empty_queue(tmp_path: Path) -> None:
    place = tmp_path / "contributions"
    place.write_text("")
    with pytest.raises(StorageError, match=f"cannot list {place}, which is no folder; move it away"):
        FolderQueue(place).list()


def test_a_folder_that_cannot_be_written_is_named(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    queue = FolderQueue(tmp_path / "file" / "contributions")
    with pytest.raises(StorageError, match=f"{tmp_path}.*move it away"):
        queue.add(contribution())


class Elsewhere(FolderQueue):
    """A queue of somebody's own."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings.home_path / "elsewhere")


def test_the_setting_names_the_queue(settings: Settings, tmp_path: Path) -> None:
    def folder_of(named: str) -> Path:
        opened: ContributionQueue = open_queue(settings.model_copy(update={"contributions": named}))
        assert isinstance(opened, FolderQueue)
        return opened.folder

    assert folder_of("folder") == tmp_path / "home" / "contributions"
    assert folder_of(str(tmp_path / "shared")) == tmp_path / "shared"
    assert folder_of("./here") == Path.cwd() / "here"
    assert folder_of(f"{__name__}:Elsewhere") == tmp_path / "home" / "elsewhere"
    for wrong, problem in (
        ("abfs://queue@account.dfs.core.windows.net", "object stores cannot add lines"),
        ("github", "it must be folder, the path of a folder"),
        ("kb_pipeline.store.staging:Staging", "not a subclass"),
    ):
        with pytest.raises(SettingsError, match=problem):
            folder_of(wrong)


def test_contributions_do_not_lie_in_the_staging_folder(settings: Settings) -> None:
    with pytest.raises(ValueError, match="KB_CONTRIBUTIONS is"):
        Settings.model_validate(settings.model_dump() | {"contributions": f"{settings.staging}/queue"})
