"""A file that is handed in is converted for the reviewer, and becomes an article only when it is accepted."""

import json
from pathlib import Path

import pytest

from kb_pipeline.contributions import converting, uploads
from kb_pipeline.contributions.base import Contribution
from kb_pipeline.contributions.folder import FolderQueue
from kb_pipeline.contributions.review import Review
from kb_pipeline.contributions.uploads import NewFile, may_upload, preview_upload
from kb_pipeline.errors import ContributionDecidedError, ContributionError, StorageError
from kb_pipeline.flow.workspace import Workspace
from kb_pipeline.settings import Settings
from kb_pipeline_tests.contributions.conftest import AT, contribution

GUIDE = b"# Pump guide\n\n## Start\n\nTurn the red valve to the left before you start the pump.\n"

pytestmark = pytest.mark.slow("converts in a process of its own")


@pytest.fixture
def workspace(tmp_path: Path) -> Workspace:
    (tmp_path / "staging").mkdir()
    return Workspace(
        Settings(staging=str(tmp_path / "staging"), home=str(tmp_path / "home"), embedder="hashing", upload_bytes=1000)
    )


@pytest.fixture
def review(queue: FolderQueue, workspace: Workspace) -> Review:
    return Review(queue, workspace.staging, lambda: AT)


def staged(workspace: Workspace) -> dict[str, bytes]:
    root = Path(workspace.settings.staging)
    return {str(path.relative_to(root)): path.read_bytes() for path in root.rglob("*") if path.is_file()}


def handed_in(workspace: Workspace, queue: FolderQueue, **changed: object) -> Contribution:
    facts = {"name": "Pump guide.md", "data": GUIDE, "contributed_by": "ann"} | changed
    new = NewFile(**facts)  # type: ignore[arg-type]
    seen = preview_upload(workspace, queue, new, now=lambda: AT)
    queue.add_file(seen.contribution, new.data)
    return queue.get(seen.contribution.id)


def test_the_reviewer_sees_what_the_conversion_made_and_staging_stays_as_it_is(
    workspace: Workspace, queue: FolderQueue
) -> None:
    one = handed_in(workspace, queue)
    assert (one.service, one.description, one.state) == ("Pump guide", "Pump guide", "pending")
    assert "Turn the red valve to the left" in one.content
    assert one.upload
    assert [check.problem for check in one.upload.checks if check.problem] == []
    assert len(one.upload.checks) > 3
    assert staged(workspace) == {}


def test_accepted_it_lies_in_staging_byte_for_byte_with_what_is_said_of_it(
    workspace: Workspace, queue: FolderQueue, review: Review
) -> None:
    one = handed_in(workspace, queue, service="pumps", title="Pümps", readers=("hr", " ann "), topics=("valves",))
    assert "access_control_list" in review.change(one, "bob").diff
    review.accept(one.id, "bob")
    assert review.accept(one.id, "bob").state == "accepted"
    found = staged(workspace)
    assert found.pop("pumps/Pump guide.md") == GUIDE
    assert json.loads(found.pop("pumps/metadata.json")) == {
        "title": "Pümps",
        "key_topics": ["valves"],
        "access_control_list": ["hr", "ann"],
    }
    assert found == {}


def test_an_acceptance_that_was_cut_off_after_the_file_was_written_is_known(
    workspace: Workspace, queue: FolderQueue, review: Review, monkeypatch: pytest.MonkeyPatch
) -> None:
    one = handed_in(workspace, queue)
    decide = FolderQueue.decide

    def killed(self: FolderQueue, contribution_id: str, decision: object) -> Contribution:
        if getattr(decision, "state", "") == "accepted":
            raise KeyboardInterrupt
        return decide(self, contribution_id, decision)  # type: ignore[arg-type]

    with monkeypatch.context() as cut:
        cut.setattr(FolderQueue, "decide", killed)
        with pytest.raises(KeyboardInterrupt):
            review.accept(one.id, "bob")
    assert queue.get(one.id).state == "pending"
    assert review.get(one.id).state == "accepted"
    with pytest.raises(ContributionDecidedError):
        review.reject(one.id, "bob", "too late")


@pytest.mark.parametrize(
    ("wrong", "reason"),
    [
        ({"name": "../../etc/passwd.md"}, "cannot be the name of a file"),
        ({"name": "a\\b.md"}, "cannot be the name of a file"),
        ({"name": ".hidden.md"}, "cannot be the name of a file"),
        ({"name": "evil\u202efdp.md"}, "cannot be the name of a file"),
        ({"name": "x" * 300 + ".md"}, "cannot be the name of a file"),
        ({"name": "metadata.json"}, "is data"),
        ({"name": "run.exe"}, r"of no format that is taken; taken are \.md, "),
        ({"name": "page.html"}, r"\.ogg and index\.html$"),
        ({"name": "a.png"}, "of no format that is taken"),
        ({"name": "old.doc"}, "save it as .docx"),
        ({"name": "all.zip"}, "is an archive"),
        ({"service": "../x"}, "cannot be an article id"),
        ({"data": b""}, "is empty"),
        ({"data": b"x" * 1001}, "at most 1,000 are taken"),
        ({"name": "a.pdf", "data": b"MZ\x90\x00 this program cannot be run"}, "cannot become an article"),
        ({"name": "a.docx", "data": b"PK\x03\x04 half"}, "cannot become an article"),
        ({"readers": ("",)}, "readers cannot be used"),
        ({"readers": ("a\nb",)}, "readers cannot be used"),
    ],
)
def test_what_cannot_become_an_article_is_refused_with_the_reason(
    workspace: Workspace, queue: FolderQueue, wrong: dict[str, object], reason: str
) -> None:
    with pytest.raises(ContributionError, match=reason):
        handed_in(workspace, queue, **wrong)
    assert list(queue.list()) == []


def test_a_file_never_replaces_an_article_nor_shows_one_to_more_readers(
    workspace: Workspace, queue: FolderQueue, review: Review
) -> None:
    one = handed_in(workspace, queue)
    (Path(workspace.settings.staging) / "Pump guide").mkdir()
    (Path(workspace.settings.staging) / "Pump guide" / "index.md").write_text("# Mine\n")
    with pytest.raises(ContributionError, match="already, which no file replaces"):
        review.accept(one.id, "bob")
    with pytest.raises(ContributionError, match="there is an article Pump guide already"):
        handed_in(workspace, queue)
    other = handed_in(workspace, queue, service="pumps", readers=("all",))
    narrow = Review(queue, workspace.staging, lambda: AT, readers_of=lambda _: ("hr",))
    with pytest.raises(ContributionError, match="for fewer readers"):
        narrow.accept(other.id, "bob")
    open_to_all = handed_in(workspace, queue, service="valves")
    narrow.accept(open_to_all.id, "bob")
    assert json.loads(staged(workspace)["valves/metadata.json"]) == {"access_control_list": ["hr"]}


def test_it_is_accepted_as_it_is_or_not_at_all(
    workspace: Workspace, queue: FolderQueue, review: Review, tmp_path: Path
) -> None:
    one = handed_in(workspace, queue)
    with pytest.raises(ContributionError, match="accepted as it is"):
        review.accept(one.id, "bob", content="Other words.")
    with pytest.raises(ContributionError, match="accepted as it is"):
        review.accept(one.id, "bob", patch=tmp_path / "a.patch")
    (queue.folder / one.id / "upload").write_bytes(b"# Something else\n")
    with pytest.raises(StorageError, match="was changed since it was handed in"):
        review.accept(one.id, "bob")
    assert staged(workspace) == {}


def test_so_many_files_of_one_person_wait_at_a_time(
    workspace: Workspace, queue: FolderQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(uploads, "MOST_PENDING", 1)
    handed_in(workspace, queue)
    queue.add(contribution())
    with pytest.raises(ContributionError, match="wait for a reviewer already"):
        handed_in(workspace, queue, service="second")


def test_what_takes_too_long_is_refused(
    workspace: Workspace, queue: FolderQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(converting, "_MOST_SECONDS", 0.01)
    with pytest.raises(ContributionError, match="took longer than"):
        handed_in(workspace, queue)


@pytest.mark.parametrize(
    ("uploaders", "names", "is_local", "may"),
    [
        ((), ("ann",), True, False),
        (("local",), ("local",), True, True),
        (("local",), ("local",), False, False),
        (("group-a",), ("ann", "group-a"), False, True),
        (("group-a",), ("bob",), True, False),
        (("everybody",), ("bob",), False, True),
    ],
)
def test_nobody_uploads_but_those_whom_the_settings_name(
    uploaders: tuple[str, ...], names: tuple[str, ...], is_local: bool, may: bool
) -> None:
    assert may_upload(uploaders, names, is_local=is_local) is may
