"""``intake.yaml`` names the sources; what is wrong in it is told with its line."""

from pathlib import Path

import pytest

from kb_pipeline.errors import IntakeError
from kb_pipeline.intake.declared import add_source, read_sources
from kb_pipeline.intake.folder import FolderOptions
from kb_pipeline.intake.naming import name_of
from kb_pipeline.settings import Settings

GOOD = """\
# of the support team
handbook:
  kind: folder
  path: /srv/handbook
  readers: [support]
"""


@pytest.fixture
def declared(settings: Settings, tmp_path: Path) -> Settings:
    return settings.model_copy(update={"intake": str(tmp_path / "intake.yaml")})


def test_without_a_file_there_is_no_source(declared: Settings) -> None:
    assert read_sources(declared) == {}


def test_each_source_is_read(declared: Settings) -> None:
    Path(declared.intake).write_text(GOOD)
    assert read_sources(declared) == {
        "handbook": FolderOptions.model_validate({"path": "/srv/handbook", "readers": ("support",)})
    }


def test_a_relative_path_is_seen_from_the_file(declared: Settings, tmp_path: Path) -> None:
    Path(declared.intake).write_text("wiki:\n  kind: folder\n  path: export/wiki\n")
    assert read_sources(declared) == {"wiki": FolderOptions.model_validate({"path": tmp_path / "export" / "wiki"})}


@pytest.mark.parametrize(
    ("added", "line", "reason"),
    [
        ("wiki:\n  kind: folder\n", 6, "wiki.path: Field required"),
        ("wiki:\n  kind: folder\n  path: /a\n  pathh: /b\n", 9, "wiki.pathh: Extra inputs"),
        ("wiki:\n  kind: folder\n  path: /a\n  readers:\n  - ok\n  - ''\n", 9, "empty name"),
        ("wiki:\n  kind: folder\n  path: /a\n  readers: team\n", 9, "wiki.readers"),
        ("wiki:\n  kind: folder\n  path: /a\n  url: file:///x\n", 9, "not a web address"),
        ("wiki:\n  kind: fodler\n  path: /a\n", 6, "needs a kind, one of: folder"),
        ("wiki: /a\n", 6, "needs a kind"),
        ("My Wiki:\n  kind: folder\n", 6, "cannot be the name of a source"),
        ("handbook:\n  kind: folder\n", 6, "handbook"),
        ("wiki: [\n", 7, "not valid YAML"),
    ],
)
def test_what_is_wrong_is_told_with_its_line(declared: Settings, added: str, line: int, reason: str) -> None:
    Path(declared.intake).write_text(GOOD + added)
    with pytest.raises(IntakeError) as told:
        read_sources(declared)
    assert reason in str(told.value)
    assert f"line {line}" in str(told.value)


def test_a_source_is_added_and_all_other_lines_stay(declared: Settings, tmp_path: Path) -> None:
    Path(declared.intake).write_text(GOOD.rstrip())
    wiki = tmp_path / "wiki"
    wiki.mkdir()
    add_source(declared, "wiki", {"kind": "folder", "path": str(wiki)})
    assert Path(declared.intake).read_text() == f"{GOOD}wiki:\n  kind: folder\n  path: {wiki}\n"
    assert [*read_sources(declared)] == ["handbook", "wiki"]


@pytest.mark.parametrize(
    ("name", "path"), [("handbook", "."), ("No name", "."), ("wiki", None), ("wiki", "gone"), ("wiki", "staging")]
)
def test_what_cannot_be_added_changes_nothing(declared: Settings, name: str, path: str | None) -> None:
    Path(declared.intake).write_text(GOOD)
    with pytest.raises(IntakeError):
        add_source(declared, name, {"kind": "folder", "path": path})
    assert Path(declared.intake).read_text() == GOOD


@pytest.mark.parametrize(
    ("path", "name"),
    [
        ("/usr/share/doc/borgbackup/html", "borgbackup"),
        ("/srv/v1.2", "v1-2"),
        ("/srv/My Wiki (2)", "my-wiki-2"),
        ("/x/Export 3.zip", "export-3"),
        ("/", "articles"),
    ],
)
def test_a_source_is_named_after_its_folder(path: str, name: str) -> None:
    assert name_of(Path(path)) == name
