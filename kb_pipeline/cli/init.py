"""``kb init``: makes a folder with settings and samples, from which ``kb ingest`` and ``kb serve`` start at once."""

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Annotated
from uuid import uuid4

import typer

from kb_pipeline.cli.console import err, out
from kb_pipeline.cli.instance import PACKAGE, PROJECT
from kb_pipeline.errors import StorageError

SAMPLES = ("staging", "evaluation", "scenarios", "web")
"""What is used of ``samples/``; the rest makes them."""
_SETTINGS = """\
# Settings of this folder. Uncomment what you set; the values are the defaults, or examples where there is no default.
# Keep this file to yourself: it may hold keys.

# The samples. For your own articles, change the first of these lines, and set a KB_HOME of their own.
KB_STAGING=samples/staging
KB_EVALUATION=samples/evaluation

"""


def init(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="An empty or new folder; default: this one.")
    ] = Path(),
) -> None:
    """Make a folder with settings, sample articles, questions about them, and a sample network.

    Nothing is overwritten.
    """
    settings, samples = folder / ".env", folder / "samples"
    if present := [str(path) for path in (settings, samples) if os.path.lexists(path)]:
        raise StorageError(f"{' and '.join(present)} would be overwritten; name another folder: kb init FOLDER")
    try:
        _write(settings, samples)
    except OSError as exc:
        raise StorageError(f"cannot write {folder} ({exc.strerror}); name another folder: kb init FOLDER") from exc
    # a process of its own, so that it reads the settings of that folder; it says itself what is wrong
    load = [sys.executable, "-m", "kb_pipeline", "scenario", "load", "--no-ingest"]
    subprocess.run(load, cwd=folder, stdout=subprocess.DEVNULL, check=False)
    err.print(f"{folder.absolute()} has settings (.env) and samples", markup=False, soft_wrap=True)
    into = "" if folder.absolute() == Path.cwd() else f"cd {shlex.quote(str(folder))}\n"
    out.print(f"{into}kb ingest\nkb serve", markup=False, highlight=False)


def _write(settings: Path, samples: Path) -> None:
    """Write both, each in one step, so that an interrupted start leaves nothing that would be taken for the whole."""
    samples.parent.mkdir(parents=True, exist_ok=True)
    unfinished = samples.with_name(f".samples.{uuid4().hex}.tmp")
    source = PACKAGE if (PACKAGE / "samples").is_dir() else PROJECT
    try:
        for name in SAMPLES:
            shutil.copytree(source / "samples" / name, unfinished / name)
        unfinished.rename(samples)
    finally:
        shutil.rmtree(unfinished, ignore_errors=True)
    # keys will be written into it
    with open(settings, "x", opener=lambda path, flags: os.open(path, flags, 0o600)) as file:
        file.write(_SETTINGS + (source / ".env.example").read_text().partition("\n\n")[2])
