"""Small homes as releases made them, with what was staged: the next release must take them over.

``python -m kb_pipeline_tests.kept_homes``, which `make home` runs, keeps one of this version. A kept home is never made
anew: it is what users of that release have.
"""

import json
import shutil
import tarfile
import tempfile
from pathlib import Path

import kb_pipeline
from kb_pipeline.settings import Settings
from kb_pipeline_tests.building import build_here, page
from kb_pipeline_tests.pictures import screenshot

HOMES = Path(__file__).with_name("homes")
READERS = "group-a"
"""Only they may read the article *two*."""
_FIGURE = '<p><img src="form.png" alt="The form"></p></body>'


def settings_of(folder: Path) -> Settings:
    """Of a home and its staging folder, without a big model."""
    return Settings(
        staging=str(folder / "staging"), home=str(folder / "home"), embedder="hashing", workers=1, chunk_min_tokens=4
    )


def unpack(version: str, folder: Path) -> Settings:
    """What users of that version have."""
    with tarfile.open(HOMES / f"{version}.tar.xz") as kept:
        kept.extractall(folder, filter="data")
    return settings_of(folder)


def make(folder: Path) -> None:
    """An article in two versions, with a screenshot, and a document that not everybody may read."""
    settings = settings_of(folder)
    one, two = folder / "staging/one", folder / "staging/two"
    one.mkdir(parents=True)
    two.mkdir()
    (one / "form.png").write_bytes(screenshot("New ticket"))
    (two / "manual.md").write_text("# Two\n\n" + "A manual of secret words. " * 6)
    (two / "metadata.json").write_text(json.dumps({"access_control_list": [READERS]}))
    for run_id, words in (("run-1", "plain words"), ("run-2", "better words")):
        (one / "index.html").write_text(page("one", words).replace("</body>", _FIGURE))
        results = build_here(settings, run_id=run_id)
        assert [result.error for result in results.values()] == [None, None]


def keep() -> None:
    """Keep a home of this version, unless there is one."""
    target = HOMES / f"{kb_pipeline.__version__}.tar.xz"
    if target.exists():
        raise SystemExit(f"{target.name} is kept already: raise the version first")
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        make(folder)
        shutil.rmtree(folder / "home/audit")  # named after this machine
        with tarfile.open(target, "w:xz") as kept:
            kept.add(folder, arcname=".", filter=_without_owner)


def _without_owner(member: tarfile.TarInfo) -> tarfile.TarInfo:
    member.uid = member.gid = 0
    member.uname = member.gname = ""
    return member


if __name__ == "__main__":
    keep()
