"""A reviewer's command puts a contribution into staging once, or not at all."""

import json
import random
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest
from upath import UPath

from kb_pipeline.contributions.folder import FolderQueue
from kb_pipeline.contributions.placing import ids_in
from kb_pipeline.contributions.review import Review, may_review
from kb_pipeline.errors import ContributionDecidedError, ContributionError, StorageError
from kb_pipeline.settings import Settings
from kb_pipeline.store.place import remote_path
from kb_pipeline.store.staged_serving import StagedServing
from kb_pipeline.store.staging import Staging
from kb_pipeline_tests.azurite import Containers
from kb_pipeline_tests.contributions.conftest import AT, contribution

ID = contribution().id
ARTICLE = "# Cosmos DB\n\n## Common Pitfalls\n\nOld.\n\n## Tools\n\nHammer.\n"
NOTE = f"*Contributed by ann on 2026-01-31, accepted by bob on 2026-01-31 (contribution {ID}).*"


@pytest.fixture
def staging(tmp_path: Path) -> Staging:
    (tmp_path / "staging" / "cosmos-db").mkdir(parents=True)
    (tmp_path / "staging" / "cosmos-db" / "index.md").write_text(ARTICLE)
    return Staging(UPath(tmp_path / "staging"))


@pytest.fixture
def review(queue: FolderQueue, staging: Staging) -> Review:
    return Review(queue, staging, lambda: AT)


def root_of(staging: Staging) -> Path:
    return Path(str(staging.root))


def text_of(staging: Staging, article_id: str = "cosmos-db") -> str:
    return (root_of(staging) / article_id / "index.md").read_text()


def test_accepting_puts_it_into_its_section_with_who_and_when(
    queue: FolderQueue, review: Review, staging: Staging
) -> None:
    queue.add(contribution())
    accepted = review.accept(ID, "bob")
    added = f"\n\n### Pitfall 1\n\nMind pitfall 1.\n\n{NOTE}"
    assert text_of(staging) == ARTICLE.replace("Old.", f"Old.{added}")
    assert accepted.state == "accepted"
    assert accepted.decision
    assert (accepted.decision.by, accepted.decision.article_id, accepted.decision.section) == (
        "bob",
        "cosmos-db",
        "Common Pitfalls",
    )
    assert [path.name for path in root_of(staging).rglob(".*")] == []


def test_accepting_twice_writes_once(queue: FolderQueue, review: Review, staging: Staging) -> None:
    queue.add(contribution())
    review.accept(ID, "bob")
    once = text_of(staging)
    assert review.accept(ID, "eve").decision == queue.get(ID).decision
    assert text_of(staging) == once


def test_another_section_and_edited_content(queue: FolderQueue, review: Review, staging: Staging) -> None:
    queue.add(contribution())
    review.accept(ID, "bob", section="Tools", content="Better <b>words</b>.")
    assert text_of(staging).endswith(f"Hammer.\n\n### Pitfall 1\n\nBetter &lt;b>words&lt;/b>.\n\n{NOTE}\n")
    assert queue.get(ID).content == "Mind pitfall 1.", "what was handed in stays"


def test_a_new_service_is_a_new_article(queue: FolderQueue, review: Review, staging: Staging) -> None:
    whole: dict[str, object] = {
        "service": "key-vault",
        "type": "New service",
        "article_id": "key-vault",
        "target_section": "",
    }
    queue.add(contribution(1, content="# Key Vault\n\nKeeps secrets.\n\n# Use\n\nAsk.", **whole))
    review.accept(ID, "bob")
    assert text_of(staging, "key-vault") == f"# Key Vault\n\nKeeps secrets.\n\n## Use\n\nAsk.\n\n{NOTE}\n"


def test_beside_an_html_article_it_goes_to_notes_with_the_same_readers(
    queue: FolderQueue, review: Review, staging: Staging
) -> None:
    folder = root_of(staging) / "web"
    folder.mkdir()
    (folder / "index.html").write_text("<p>x</p>")
    (folder / "metadata.json").write_text('{"access_control_list": ["hr"]}')
    queue.add(contribution(service="web"))
    assert '+    "hr"\n' in review.change(queue.get(ID), "bob").diff
    review.accept(ID, "bob")
    assert text_of(staging, "web-notes").startswith("# Web: notes\n\n## Common Pitfalls\n\n### Pitfall 1\n")
    metadata = json.loads((root_of(staging) / "web-notes" / "metadata.json").read_text())
    assert metadata == {"access_control_list": ["hr"]}
    assert sorted(path.name for path in folder.iterdir()) == ["index.html", "metadata.json"]


def test_an_article_that_was_removed_comes_back_for_its_readers_only(queue: FolderQueue, staging: Staging) -> None:
    queue.add(contribution(service="gone", article_id="gone"))
    Review(queue, staging, lambda: AT, readers_of={"gone": ("hr",)}.__getitem__).accept(ID, "bob")
    assert json.loads((root_of(staging) / "gone" / "metadata.json").read_text()) == {"access_control_list": ["hr"]}


def test_rejecting_keeps_it_with_the_reason(queue: FolderQueue, review: Review, staging: Staging) -> None:
    queue.add(contribution())
    with pytest.raises(ContributionError, match="say why"):
        review.reject(ID, "bob", " ")
    rejected = review.reject(ID, "bob", "not  true")
    assert rejected.decision
    assert (rejected.state, rejected.decision.reason) == ("rejected", "not true")
    with pytest.raises(ContributionDecidedError, match="rejected by bob"):
        review.accept(ID, "bob")
    with pytest.raises(ContributionDecidedError, match="rejected by bob"):
        review.reject(ID, "bob", "again")
    assert text_of(staging) == ARTICLE


def test_a_patch_leaves_staging_alone_and_can_be_applied(
    queue: FolderQueue, review: Review, staging: Staging, tmp_path: Path
) -> None:
    (root_of(staging) / "cosmos-db" / "index.md").write_text(ARTICLE.rstrip("\n"))
    queue.add(contribution())
    queue.add(contribution(2, service="key-vault", article_id="key-vault"))
    assert review.accept(ID, "bob", section="Tools", patch=tmp_path / "one.patch").state == "accepted"
    review.accept(contribution(2).id, "bob", patch=tmp_path / "two.patch")
    assert text_of(staging) == ARTICLE.rstrip("\n")
    for patch in ("one.patch", "two.patch"):
        subprocess.run(["git", "apply", str(tmp_path / patch)], cwd=str(staging.root), check=True)
    assert text_of(staging).endswith(f"{NOTE}\n")
    assert ids_in(text_of(staging, "key-vault")) == [contribution(2).id]


@pytest.mark.slow("starts Azurite")
def test_a_folder_that_is_only_read_is_refused_with_the_way_out(
    queue: FolderQueue, staging: Staging, containers: Containers, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue.add(contribution())
    there = containers.settings(Settings())
    remote = Review(queue, Staging(remote_path(there.staging, "staging", there)), lambda: AT)
    with pytest.raises(ContributionError, match=r"not a local folder.*--output FILE"):
        remote.accept(ID, "bob")
    with pytest.raises(ContributionError, match=r"that another program made.*--output FILE"):
        Review(queue, StagedServing(staging.root), lambda: AT).accept(ID, "bob")
    monkeypatch.setattr("os.access", lambda *_: False)
    with pytest.raises(ContributionError, match=r"may only be read by this user.*--output FILE"):
        Review(queue, staging, lambda: AT).accept(ID, "bob")
    assert queue.get(ID).state == "pending"


def test_links_are_not_written_through(queue: FolderQueue, review: Review, staging: Staging, tmp_path: Path) -> None:
    outside = tmp_path / "outside.md"
    outside.write_text(ARTICLE)
    linked = root_of(staging) / "cosmos-db" / "index.md"
    inside = linked.with_name("real.txt")
    inside.write_text(ARTICLE)
    linked.unlink()
    linked.symlink_to(inside)
    queue.add(contribution())
    with pytest.raises(ContributionError, match="as a link"):
        review.accept(ID, "bob")
    assert inside.read_text() == ARTICLE


def test_a_full_disk_leaves_the_article_and_the_contribution_as_they_were(
    queue: FolderQueue, review: Review, staging: Staging, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue.add(contribution())

    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patched:
        patched.setattr(Path, "replace", full)
        with pytest.raises(StorageError, match="disk is full"):
            review.accept(ID, "bob")
    assert text_of(staging) == ARTICLE
    assert review.get(ID).state == "pending"
    assert review.accept(ID, "bob").state == "accepted"


def test_what_stands_in_the_file_already_is_not_put_there_again(
    queue: FolderQueue, review: Review, staging: Staging
) -> None:
    (root_of(staging) / "cosmos-db" / "index.md").write_text(f"{ARTICLE}\n{NOTE}\n")
    queue.add(contribution())
    assert review.accept(ID, "bob").state == "accepted"
    assert text_of(staging).count(ID) == 1


ACCEPT = """
import sys
from pathlib import Path
from upath import UPath
from kb_pipeline.contributions.folder import FolderQueue
from kb_pipeline.contributions.review import Review
from kb_pipeline.store.staged_serving import StagedServing
from kb_pipeline.store.staging import Staging
queue, staging = sys.argv[1:]
review = Review(FolderQueue(Path(queue)), Staging(UPath(staging)))
print("ready", flush=True)
review.accept("20260131-00000001", "bob")
"""


@pytest.mark.rare("kills")
@pytest.mark.parametrize("article", ["cosmos-db", "key-vault"])
def test_killed_at_any_moment_it_is_done_once_or_not_at_all(
    queue: FolderQueue, review: Review, staging: Staging, article: str
) -> None:
    chance = random.Random(article)
    root = root_of(staging)
    outcomes = []
    for _ in range(10):
        shutil.rmtree(queue.folder, ignore_errors=True)
        shutil.rmtree(root / "key-vault", ignore_errors=True)
        (root / "cosmos-db" / "index.md").write_text(ARTICLE)
        queue.add(contribution(service=article, article_id=article))
        with subprocess.Popen(
            [sys.executable, "-c", ACCEPT, str(queue.folder), str(root)], stdout=subprocess.PIPE
        ) as accepting:
            assert accepting.stdout
            accepting.stdout.readline()
            time.sleep(chance.uniform(0, 0.02))
            accepting.kill()
        file = root / article / "index.md"
        text = file.read_text() if file.exists() else ""
        state = review.get(ID).state
        assert (text.count(ID), state) in ((0, "pending"), (1, "accepted"))
        assert not text or ids_in(text) == [ID] or text == ARTICLE, "never half a file"
        outcomes.append(state)
        assert review.accept(ID, "bob").state == "accepted", "whoever accepts again completes it"
        assert file.read_text().count(ID) == 1
        assert [path for path in Staging(UPath(root)).list_articles().article_ids if path.startswith(".")] == []
    assert len(outcomes) == 10


@pytest.mark.parametrize("moment", ["before the file", "after the file"])
def test_an_interruption_between_accepted_and_written_is_settled_by_the_file(
    queue: FolderQueue, review: Review, staging: Staging, moment: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    queue.add(contribution())
    real, calls = queue._append, iter((True, moment == "before the file"))

    def interrupted(contribution_id: str, decision: object) -> None:
        if not next(calls):
            raise KeyboardInterrupt
        real(contribution_id, decision)  # type: ignore[arg-type]

    with monkeypatch.context() as patched:
        patched.setattr(queue, "_append", interrupted)
        if moment == "before the file":
            patched.setattr(Review, "_write", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
        with pytest.raises(KeyboardInterrupt):
            review.accept(ID, "bob")
    is_written = moment == "after the file"
    assert text_of(staging).count(ID) == is_written
    assert [one.state for one in review.read_all().contributions] == ["accepted" if is_written else "pending"]
    assert review.accept(ID, "bob").state == "accepted"
    assert text_of(staging).count(ID) == 1


def test_who_may_decide() -> None:
    assert may_review((), (), is_local=True)
    assert not may_review((), ("ann",), is_local=False)
    assert may_review(("ann", "editors"), ("bob", "editors"), is_local=False)
    assert may_review(("ann",), ("ann",), is_local=True)
    assert not may_review(("ann",), ("bob",), is_local=True)
    assert may_review(("ann", "local"), ("bob",), is_local=True)
    assert not may_review(("ann", "local"), ("local",), is_local=False), "a name that anybody could have"
