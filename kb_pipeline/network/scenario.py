"""The manifest of a scenario: which files hold the network, its telemetry and its documents, and what they mean.

The folder may come from anybody. Its manifest is read without running anything, and no path leads out of the folder.
"""

import os
from hashlib import file_digest, sha256
from pathlib import Path
from stat import S_ISDIR, S_ISREG
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, BeforeValidator, ConfigDict, Field, ValidationError, field_validator

from kb_pipeline.errors import ScenarioError
from kb_pipeline.steps.metadata import checked_readers
from kb_pipeline.steps.strict_yaml import strict_yaml

MANIFEST = "scenario.yaml"
_MANIFEST_BYTES = 256 * 1024
"""Bytes: hundreds of types with all they may say; YAML of megabytes takes minutes."""
_FILE_BYTES = 2 * 1024**3
"""2 GB: what is longer as text is far smaller as Parquet."""
_MOST_DOCUMENTS = 10_000
"""Runbooks or tickets: each becomes an article."""
_MOST_KINDS = 500
"""Types of vertices, edges or telemetry: a person declares each."""
_NAME = r"^[a-z0-9][a-z0-9_-]{0,63}$"

Kind = Literal["infrastructure", "service", "obligation"]
FieldType = Literal["text", "float", "integer"]
Column = Annotated[str, Field(pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,63}$")]


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class VertexType(_Part):
    """A file of vertices of one type. ``kind`` says whether they can be a cause, or only suffer."""

    file: str
    id: Column
    name: Column = "name"
    kind: Kind = "infrastructure"
    fields: dict[Column, FieldType] = {}
    color: Annotated[str, Field(pattern=r"^(#[0-9A-Fa-f]{3,8}|[a-z]{0,20})$")] = ""
    size: Annotated[int, Field(ge=1, le=100)] = 6


def _end(value: object) -> object:
    if isinstance(value, list) and len(value) == 2:
        return {"types": str(value[0]).split("|"), "column": value[1]}
    return value


class EdgeEnd(_Part):
    """The column that names one end of an edge, and the vertex types that may stand there."""

    types: tuple[str, ...]
    column: Column


class EdgeType(_Part):
    """A file of edges, each from what depends to what it depends on.

    ``needs``: whether the dependent fails when any of its targets fails (``all`` are needed), or when all fail.
    """

    label: Column
    file: str
    from_: Annotated[EdgeEnd, BeforeValidator(_end)] = Field(alias="from")
    to: Annotated[EdgeEnd, BeforeValidator(_end)]
    needs: Literal["all", "any"] = "all"


class Container(_Part):
    """A file of telemetry. ``metrics`` are the measured columns, with the direction in which each gets worse."""

    file: str
    time: Column
    entity: Column
    partition_key: Column = ""
    metrics: dict[Column, Literal["up", "down", "both"]] = {}


class Symptom(_Part):
    """On which vertex types an alert type says that the element itself failed, or that something below it did.

    A type with neither says nothing about failures.
    """

    own: tuple[str, ...] = ()
    derived: tuple[str, ...] = ()


class Knowledge(_Part):
    """The folders of runbooks and tickets."""

    runbooks: str = ""
    tickets: str = ""


class Scenario(_Part):
    """The whole manifest. ``incidents`` names a file of those whose causes are known, which measure the diagnosis."""

    name: Annotated[str, Field(pattern=_NAME)]
    title: str
    version: int = 1
    time_zone: str = "UTC"
    vertices: Annotated[dict[Column, VertexType], Field(max_length=_MOST_KINDS)]
    edges: Annotated[list[EdgeType], Field(max_length=_MOST_KINDS)]
    telemetry: Annotated[dict[Column, Container], Field(max_length=_MOST_KINDS)] = {}
    symptoms: dict[str, Symptom] = {}
    knowledge: Knowledge = Knowledge()
    incidents: str = ""
    access_control_list: Annotated[list[str], AfterValidator(checked_readers)] = []

    @field_validator("telemetry")
    @classmethod
    def _are_tables_of_their_own(cls, telemetry: dict[str, Container]) -> dict[str, Container]:
        names = [name.lower() for name in (*telemetry, "vertices", "edges")]
        if len(set(names)) < len(names):
            raise ValueError("two containers have one name, or one is called vertices or edges")
        if same := [name for name, each in telemetry.items() if each.time == each.entity]:
            raise ValueError(f"time and entity of {same[0]} are one column")
        return telemetry

    def files(self) -> list[str]:
        """Every data file that the manifest names, once each, in order of their names."""
        files = {each.file for each in self.vertices.values()} | {each.file for each in self.edges}
        return sorted(files | {each.file for each in self.telemetry.values()})


class ScenarioFolder:
    """A scenario on disk: its manifest and its files."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.scenario = _read_manifest(folder)

    def path(self, name: str) -> Path:
        """The path of a file of the scenario.

        Raises:
            ScenarioError: it lies outside of the folder, is not there, is no ordinary file, or is too large.
        """
        path, found = self._inside(name)
        if not S_ISREG(found.st_mode):
            raise ScenarioError(f"{self.folder / MANIFEST} names {name!r}, which is no ordinary file")
        if found.st_size > _FILE_BYTES:
            raise ScenarioError(f"{path} is larger than {_FILE_BYTES:,} bytes; split it, or store it as Parquet")
        return path

    def documents(self, kind: Literal["runbooks", "tickets"]) -> list[Path]:
        """The files of the runbooks or tickets, in order of their names.

        Raises:
            ScenarioError: their folder is none, or one of them cannot be read as a file of the scenario.
        """
        named = getattr(self.scenario.knowledge, kind)
        if not named:
            return []
        folder, found = self._inside(named)
        if not S_ISDIR(found.st_mode):
            raise ScenarioError(f"{self.folder / MANIFEST} names {named!r}, which is no folder")
        suffix = ".md" if kind == "runbooks" else ".json"
        names = sorted(path.name for path in folder.glob(f"*{suffix}"))
        if len(names) > _MOST_DOCUMENTS:
            raise ScenarioError(f"{folder} holds {len(names):,} {kind}; at most {_MOST_DOCUMENTS:,} are read")
        return [self.path(f"{named}/{name}") for name in names]

    def _inside(self, name: str) -> tuple[Path, os.stat_result]:
        """Where a file or folder lies, and what it is, after links."""
        manifest, root = self.folder / MANIFEST, self.folder.resolve()
        try:
            path = (root / name).resolve()
            if Path(name).is_absolute() or not path.is_relative_to(root):
                raise ScenarioError(f"{manifest} names {name[:200]!r}, which lies outside of the scenario's folder")
            return path, path.stat()
        except FileNotFoundError as exc:
            raise ScenarioError(f"{manifest} names {name!r}, which is not there; add it, or remove the name") from exc
        except (OSError, RuntimeError, ValueError) as exc:  # a link to itself, a name that is none
            raise ScenarioError(f"{manifest} names {name[:200]!r}, which cannot be read: {exc}"[:500]) from exc

    def hashes(self) -> dict[str, str]:
        """The content hash of every file that the scenario is made of, by its path in the folder."""
        root = self.folder.resolve()
        documents = [str(path.relative_to(root)) for kind in ("runbooks", "tickets") for path in self.documents(kind)]
        documents += [self.scenario.incidents] if self.scenario.incidents else []
        return {name: self.hash(name) for name in (MANIFEST, *self.scenario.files(), *documents)}

    def hash(self, name: str) -> str:
        """The content hash of a file of the folder."""
        return _hash(self.path(name))

    def fingerprint(self) -> str:
        """One hash of the manifest and all data files; documents and incidents are not part of the store."""
        hashes = self.hashes()
        text = "\n".join(f"{name} {hashes[name]}" for name in (MANIFEST, *self.scenario.files()))
        return sha256(text.encode()).hexdigest()[:16]


def list_scenarios(root: Path) -> list[str]:
    """The names of the folders with a manifest."""
    return sorted(path.parent.name for path in root.glob(f"*/{MANIFEST}")) if root.is_dir() else []


def open_scenario(root: Path, name: str = "") -> ScenarioFolder:
    """The scenario of a name; without one, the only one that there is.

    Raises:
        ScenarioError: there is no such scenario, there are several to choose from, or its manifest is not valid.
    """
    names = list_scenarios(root)
    if not name and len(names) != 1:
        advice = (
            f"set KB_SCENARIO to one of {', '.join(names)}" if names else "set KB_SCENARIOS to a folder of scenarios"
        )
        raise ScenarioError(f"{root} holds {len(names)} scenarios; {advice}")
    if name and name not in names:
        raise ScenarioError(f"{root} holds no scenario {name!r}; there are: {', '.join(names) or 'none'}")
    return ScenarioFolder(root / (name or names[0]))


def _read_manifest(folder: Path) -> Scenario:
    path = folder / MANIFEST
    try:
        if not path.is_file():
            raise ScenarioError(f"{path} is no ordinary file")
        if not path.resolve().is_relative_to(folder.resolve()):
            raise ScenarioError(f"{path} is a link to a file outside of the scenario's folder")
        with path.open("rb") as file:
            body = file.read(_MANIFEST_BYTES + 1)
        if len(body) > _MANIFEST_BYTES:
            raise ScenarioError(f"{path} is larger than {_MANIFEST_BYTES:,} bytes")
        scenario = Scenario.model_validate(strict_yaml(body))
    except OSError as exc:
        raise ScenarioError(f"{path} cannot be read: {exc.strerror}") from exc
    except ValidationError as exc:
        first = exc.errors()[0]
        place = ".".join(map(str, first["loc"]))
        raise ScenarioError(f"{path}: {place}: {first['msg']}") from exc
    except ValueError as exc:
        raise ScenarioError(f"{path} is not valid YAML: {exc}"[:1000]) from exc
    if scenario.name != folder.resolve().name:
        raise ScenarioError(
            f"{path} says name: {scenario.name}, but its folder is {folder.resolve().name}; make them equal"
        )
    return scenario


def _hash(path: Path) -> str:
    try:
        with path.open("rb") as file:
            return file_digest(file, "sha256").hexdigest()
    except OSError as exc:  # a folder, or a file that only others may read
        raise ScenarioError(f"{path} cannot be read: {exc.strerror}") from exc
