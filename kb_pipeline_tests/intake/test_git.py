"""A folder of a repository is taken in as a branch has it; nothing else of it is read, and nothing of it is run."""

import shutil
import subprocess
from pathlib import Path

import pytest

from kb_pipeline.errors import IntakeError
from kb_pipeline.intake.declared import read_sources
from kb_pipeline.intake.git import GitOptions, GitSource
from kb_pipeline.intake.running import run
from kb_pipeline.settings import Settings
from kb_pipeline_tests.intake.conftest import PROSE

pytestmark = pytest.mark.skipif(not shutil.which("git"), reason="git is not installed")


class Repository:
    """A repository that a test commits to."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self.git("init", "--quiet", "--initial-branch=main", str(root))

    def git(self, *arguments: str) -> None:
        who = ("-c", "user.name=A", "-c", "user.email=a@example.org")
        place = () if arguments[0] == "init" else ("-C", str(self.root))
        subprocess.run(["git", *place, *who, *arguments], check=True)

    def commit(self, **files: str) -> None:
        for name, text in files.items():
            path = self.root / f"{name.replace('__', '/')}.md"
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)
        self.git("add", "-A")
        self.git("commit", "--quiet", "-m", "docs")


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    made = Repository(tmp_path / "repository")
    (made.root / "docs" / "img").mkdir(parents=True)
    (made.root / "docs" / "img" / "a.png").write_bytes(b"picture")
    (made.root / "docs" / "link.md").symlink_to("/etc/passwd")
    made.commit(docs__a=f"# A\n\n{PROSE} [b](more/b.md) ![x](img/a.png)", docs__more__b=f"# B\n\n{PROSE}", other="# O")
    return made


def source(made: Repository, settings: Settings, **options: object) -> GitSource:
    given = {"repository": str(made.root), "folder": "docs", **options}
    return GitSource("guide", GitOptions.model_validate(given), settings)


def test_the_folder_becomes_articles_with_pictures_and_links(
    repository: Repository, settings: Settings, staging: Path
) -> None:
    assert run(source(repository, settings), settings).new == ["guide-a", "guide-more-b"]
    text = (staging / "guide-a" / "a.md").read_text()
    assert "[b](../guide-more-b/b.md) ![x](a.png)" in text
    assert (staging / "guide-a" / "a.png").read_bytes() == b"picture"


def test_only_what_a_commit_changed_is_fetched(repository: Repository, settings: Settings) -> None:
    run(source(repository, settings), settings)
    repository.commit(other="# Another", docs__more__b=f"# B\n\nChanged. {PROSE}")
    taken = run(source(repository, settings), settings)
    assert (taken.changed, taken.unchanged) == (["guide-more-b"], 1)
    repository.git("rm", "--quiet", "docs/more/b.md")
    repository.commit()
    assert run(source(repository, settings), settings).gone == ["guide-more-b"]


def test_a_branch_is_followed_also_when_its_history_is_rewritten(repository: Repository, settings: Settings) -> None:
    repository.git("checkout", "--quiet", "-b", "next")
    repository.commit(docs__c=f"# C\n\n{PROSE}")
    assert len(run(source(repository, settings, branch="next"), settings).new) == 3
    repository.git("reset", "--quiet", "--hard", "main")
    repository.commit(docs__d=f"# D\n\n{PROSE}")
    taken = run(source(repository, settings, branch="next"), settings)
    assert (taken.new, taken.gone) == (["guide-d"], ["guide-c"])


@pytest.mark.parametrize("options", [{"branch": "gone"}, {"folder": "nowhere"}, {"repository": "/nowhere"}])
def test_what_is_not_there_changes_nothing(repository: Repository, settings: Settings, options: dict[str, str]) -> None:
    run(source(repository, settings), settings)
    with pytest.raises(IntakeError, match="cannot be read"):
        source(repository, settings, **options)


@pytest.mark.parametrize(
    ("line", "reason"),
    [
        ("repository: ext::sh -c x", "not the address"),
        ("repository: --upload-pack=x", "not the address"),
        ("repository: https://user:secret@example.org/x.git", "credential helper"),
        ("repository: /x\n  branch: --all", "branch"),
        ("repository: /x\n  folder: ../y", "outside"),
    ],
)
def test_addresses_that_run_or_tell_something_are_refused(
    settings: Settings, tmp_path: Path, line: str, reason: str
) -> None:
    (tmp_path / "intake.yaml").write_text(f"guide:\n  kind: git\n  {line}\n")
    with pytest.raises(IntakeError, match=reason) as told:
        read_sources(settings.model_copy(update={"intake": str(tmp_path / "intake.yaml")}))
    assert "secret" not in str(told.value)
