"""Models that are built once and kept as files: complete or absent, whoever builds at the same time.

Here: naming, checking and replacing such files. Not here: how any model is built.
"""

import contextlib
import hashlib
from collections.abc import Callable
from pathlib import Path
from uuid import uuid4

from kb_pipeline.errors import ModelError

SUFFIX = ".onnx"


def cached_model(cache_dir: Path, name: str, build: Callable[[], bytes]) -> Path:
    """Return the file ``<name>.<hash of its content>.onnx``, built unless an intact one is there.

    A file whose content does not fit its name is removed and built anew. The file appears under its name in one
    step, so processes that build at once disturb nobody: each ends with an intact file.

    Raises:
        ModelError: the folder cannot be written.
    """
    try:
        cache_dir.mkdir(parents=True, exist_ok=True)
        return _intact(cache_dir, name) or _written(cache_dir, name, build())
    except OSError as exc:
        raise ModelError(f"cannot keep {name} in {cache_dir}: {exc}; choose a cache folder that is writable") from exc


def _intact(cache_dir: Path, name: str) -> Path | None:
    for path in sorted(cache_dir.glob(f"{name}.*{SUFFIX}")):
        # Another process may have found the same damage first.
        with contextlib.suppress(FileNotFoundError):
            if path.name == _file_name(name, path.read_bytes()):
                return path
            path.unlink()
    return None


def _written(cache_dir: Path, name: str, content: bytes) -> Path:
    path = cache_dir / _file_name(name, content)
    temporary = cache_dir / f"{name}.{uuid4().hex}.tmp"
    try:
        temporary.write_bytes(content)
        return temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)


def _file_name(name: str, content: bytes) -> str:
    return f"{name}.{hashlib.sha256(content).hexdigest()[:16]}{SUFFIX}"
