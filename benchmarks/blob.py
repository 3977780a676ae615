"""The cost of listing staging on Blob Storage and of publishing there, measured on Azurite.

Azurite runs on the same cores and answers from memory: part of the wall time is its own, but CPU seconds and requests
are ours. adlfs is measured for comparison. It is not installed with the project, because LanceDB would import it at
each start: ``--adlfs-python`` names a Python that has it.
"""

import argparse
import os
import resource
import subprocess
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from azure.storage.blob import ContainerClient
from upath import UPath

from benchmarks.measure import machine
from kb_pipeline.settings import Settings
from kb_pipeline.steps.fingerprint import sha256
from kb_pipeline.store.azure_retry import BoundedRetry
from kb_pipeline.store.place import remote_path
from kb_pipeline.store.serving import FileToServe, put, remove, replacing, shows, tidy
from kb_pipeline.store.staging import Staging
from kb_pipeline_tests.azurite import Azurite, running_azurite

_FILES = ("index.html", "a.image", "b.image", "metadata.json")
_AT_ONCE = 8
_ADLFS = """
import sys, time, resource, adlfs
started, files = time.perf_counter(), adlfs.AzureBlobFileSystem(connection_string=sys.argv[1])
found = len(files.find("staging/articles", detail=True))
usage = resource.getrusage(resource.RUSAGE_SELF)
print(found, time.perf_counter() - started, usage.ru_utime + usage.ru_stime, usage.ru_maxrss // 1024)
"""


def main() -> None:
    """Measure and write ``results/blob.md``."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--articles", type=int, default=10_000)
    parser.add_argument("--out", type=Path, default=Path(__file__).parent / "results" / "blob.md")
    parser.add_argument("--adlfs-python", type=Path, help="a Python with adlfs, to be measured beside ours")
    arguments = parser.parse_args()
    load = os.getloadavg()[0]
    with running_azurite() as azurite:
        azurite.container("serving")
        _fill(azurite.container("staging"), arguments.articles)
        rows = [*_looks(azurite, arguments.articles), *_swaps(azurite)]
        if arguments.adlfs_python:
            rows.append(_with_adlfs(azurite, arguments.adlfs_python))
    table = "\n".join(["| what | seconds | CPU seconds | requests |", "|---|---|---|---|", *rows])
    about = machine()
    intro = (
        f"{arguments.articles} articles of {len(_FILES)} files on Azurite, {about['cpus']} cores ({about['processor']})"
    )
    note = f"its load by others was {load:.1f} when this began; peak memory of this process {_memory_mb()} MB."
    arguments.out.write_text(f"{intro}; {note}\n\n{table}\n")
    print(arguments.out.read_text())


def _fill(container: ContainerClient, articles: int) -> None:
    def stage(number: int) -> None:
        for name in _FILES:
            container.upload_blob(f"articles/article-{number:05}/{name}", f"{number} {name}")

    with ThreadPoolExecutor(_AT_ONCE) as pool:
        list(pool.map(stage, range(articles)))


def _opened(azurite: Azurite, role: str) -> UPath:
    settings = Settings(
        staging="abfs://staging/articles",
        serving="abfs://serving/kb",
        staging_connection_string=azurite.connection_string,
        serving_connection_string=azurite.connection_string,
    )
    return remote_path(getattr(settings, role), role, settings)  # type: ignore[arg-type]


def _looks(azurite: Azurite, articles: int) -> list[str]:
    staging = Staging(_opened(azurite, "staging"))
    rows = [
        _measured("list the articles", lambda: staging.list_articles()),
        _measured("scan them: names, sizes, ETags of all files", lambda: staging.scan()),
        _measured("scan them again", lambda: staging.scan()),
        _measured("the signature of one article", lambda: staging.signature("article-00000")),
        _measured("the inventory of one article: read and hash its files", lambda: staging.inventory("article-00000")),
    ]
    assert len(staging.scan().signatures) == articles
    return rows


def _swaps(azurite: Azurite) -> list[str]:
    serving = _opened(azurite, "serving")
    first, second = _version("first"), _version("second")
    hashes = {name: content.sha256 for name, content in second.items()}

    def publish(version: dict[str, FileToServe]) -> None:
        with replacing([serving / "page"]):
            put(serving / "page", version, last=("article.md", "manifest.json"))
            tidy(serving / "page", lambda name: name not in version)

    def publish_fifty() -> None:
        with replacing([serving / f"page-{number}" for number in range(50)]), ThreadPoolExecutor(_AT_ONCE) as pool:
            list(pool.map(lambda number: put(serving / f"page-{number}", first, last=("manifest.json",)), range(50)))
            list(pool.map(lambda number: tidy(serving / f"page-{number}", lambda _: False), range(50)))

    return [
        _measured("publish an article of 10 images", lambda: publish(first)),
        _measured("publish it with one image and the text changed", lambda: publish(second)),
        _measured("look whether it is in place", lambda: shows(serving / "page", hashes)),
        _measured("remove it", lambda: remove(serving / "page", first="manifest.json")),
        _measured("publish 50 articles of 10 images", publish_fifty),
    ]


def _version(name: str) -> dict[str, FileToServe]:
    named = {f"images/{number}.png": bytes(20_000) + str(number).encode() for number in range(10)}
    named |= {"images/9.png": name.encode(), "article.md": name.encode(), "manifest.json": name.encode()}
    return {path: FileToServe(sha256(data), lambda data=data: data) for path, data in named.items()}  # type: ignore[misc]


def _measured(what: str, do: Callable[[], object]) -> str:
    send, count = BoundedRetry.send, 0

    def counted(policy: BoundedRetry, request: object) -> object:
        nonlocal count
        count += 1
        return send(policy, request)

    BoundedRetry.send = counted  # type: ignore[method-assign]
    try:
        started, cpu = time.perf_counter(), time.process_time()
        do()
        seconds, used = time.perf_counter() - started, time.process_time() - cpu
    finally:
        BoundedRetry.send = send  # type: ignore[method-assign]
    return f"| {what} | {seconds:.2f} | {used:.2f} | {count} |"


def _with_adlfs(azurite: Azurite, python: Path) -> str:
    command = [str(python), "-c", _ADLFS, azurite.connection_string]
    blobs, wall, cpu, memory = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
    what = f"the same listing by adlfs ({blobs} blobs, a process of its own, {memory} MB)"
    return f"| {what} | {float(wall):.2f} | {float(cpu):.2f} | |"


def _memory_mb() -> int:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024


if __name__ == "__main__":
    main()
