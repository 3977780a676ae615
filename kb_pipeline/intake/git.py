"""The source ``git``: a folder of a repository, as a branch has it. A file's version is the id of its content.

The ``git`` command reads the repository, with the keys and credential helpers of whoever runs this, into a bare copy
below ``KB_HOME``. Only the newest commit is fetched, and nothing is checked out.
"""

import os
import subprocess
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Literal, NamedTuple

from pydantic import Field, field_validator

from kb_pipeline.errors import IntakeError
from kb_pipeline.intake.folder import TreeOptions, TreeSource
from kb_pipeline.intake.naming import name_of
from kb_pipeline.intake.trees import Tree
from kb_pipeline.secrets import credentials_in
from kb_pipeline.settings import Settings
from kb_pipeline.store.staging_files import FileFacts

_SECONDS = 900
"""A quarter of an hour: the first copy of a large repository takes minutes."""
_PROTOCOLS = "https:http:ssh:file"
"""Others (``ext::``) run commands that an address names."""
_ORDINARY = frozenset({"100644", "100755"})
"""Modes of files; the others are links, and repositories inside of this one."""


class GitOptions(TreeOptions):
    """Take in the pages, documents and pictures of a repository, as a branch has them."""

    kind: Literal["git"] = "git"
    repository: str = Field(description="Its address: https://..., ssh://..., git@host:path, or a folder.")
    branch: str = Field("HEAD", pattern=r"^[A-Za-z0-9_][\w./-]*$", description="A branch or tag; default: its own.")
    folder: str = Field("", description="Only this folder of it: docs")

    @field_validator("repository")
    @classmethod
    def _names_a_repository(cls, value: str) -> str:
        if value.startswith("-") or "::" in value or not value.strip():
            raise ValueError("it is not the address of a repository")
        if credentials := credentials_in(value):
            raise ValueError(f"it holds {credentials}; leave that to a credential helper of git, or to a key of ssh")
        return value

    @field_validator("folder")
    @classmethod
    def _is_inside(cls, value: str) -> str:
        if ".." in value.split("/"):
            raise ValueError("it lies outside of the repository")
        return value.strip("/")

    @classmethod
    def name_for(cls, given: Mapping[str, object]) -> str:
        return name_of(Path(str(given["repository"]).removesuffix(".git").rpartition(":")[2]))


class GitSource(TreeSource):
    """A folder of a repository."""

    def __init__(self, name: str, options: GitOptions, settings: Settings) -> None:
        tree = GitTree(options, settings.home_path / "intake" / f"{name}.git")
        super().__init__(name, options, tree, settings)


class _Blob(NamedTuple):
    id: str
    size: int


class GitTree(Tree):
    """The files of a branch."""

    def __init__(self, options: GitOptions, copy: Path) -> None:
        super().__init__()
        self._copy, self._name = copy, f"{options.repository} ({options.branch})"
        if not (copy / "HEAD").exists():
            self._git("init", "--quiet", "--bare", str(copy))
        self._in_copy("fetch", "--quiet", "--depth=1", "--no-tags", "--force", "--", options.repository, options.branch)
        root = f"FETCH_HEAD:{options.folder}"
        self._files = dict(_blobs(self._in_copy("ls-tree", "-r", "-l", "-z", root)))

    def files(self) -> Iterator[FileFacts]:
        for name, blob in self._files.items():
            yield FileFacts(name, blob.size, blob.id, 0.0)

    def content(self, name: str) -> bytes:
        if name not in self._files:
            raise IntakeError(f"{name} is not in {self._name} any more")
        return self._in_copy("cat-file", "blob", self._files[name].id)

    def _version(self, name: str) -> str | None:
        blob = self._files.get(name)
        return blob.id if blob else None

    def _in_copy(self, *arguments: str) -> bytes:
        return self._git(f"--git-dir={self._copy}", *arguments)

    def _git(self, *arguments: str) -> bytes:
        environment = {**os.environ, "GIT_TERMINAL_PROMPT": "0", "GIT_ALLOW_PROTOCOL": _PROTOCOLS}
        try:
            done = subprocess.run(
                ["git", *arguments], env=environment, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS,
                check=True,
            )  # fmt: skip
        except FileNotFoundError as exc:
            raise IntakeError("the command git is not installed, which reads repositories") from exc
        except subprocess.TimeoutExpired as exc:
            raise IntakeError(f"{self._name} did not answer within {_SECONDS} s") from exc
        except subprocess.CalledProcessError as exc:
            problem = " ".join(exc.stderr.decode(errors="replace").split())[:500]
            raise IntakeError(f"{self._name} cannot be read: {problem}") from exc
        return done.stdout


def _blobs(listing: bytes) -> Iterator[tuple[str, _Blob]]:
    for line in listing.split(b"\0"):
        facts, _, path = line.partition(b"\t")
        try:
            name = path.decode()
        except UnicodeDecodeError:
            continue  # it could not be written to a manifest or a URL
        if name and (parts := facts.decode().split())[0] in _ORDINARY:
            yield name, _Blob(parts[2], int(parts[3]))
