"""What watching the staging folder remembers from one look to the next, in ``<home>/sensor.json``.

It can be lost without harm: what was ingested is then asked of the articles' states, what is under way of the runs.
"""

from typing import Literal

from pydantic import Field, ValidationError

from kb_pipeline.layout import Layout
from kb_pipeline.records import Record
from kb_pipeline.storage import read_bytes, write_bytes

FIRST_WAIT = 60.0
LONGEST_WAIT = 6 * 3600.0
"""Seconds between tries: the first, doubled with each, up to the longest."""
GONE = ""
"""The signature of an article that is not staged any more."""
CRASHES_AT_ONCE = 3
"""How often an article whose run ended before its turn is requested again without waiting."""


Kind = Literal["ingest", "remove"]


class Batch(Record):
    """What one run was asked to do. ``signatures``: by article, what was seen of it then."""

    id: str
    kind: Kind
    signatures: dict[str, str]


class Retry(Record):
    """An article that is to be tried again: ``attempts`` that failed, ``crashes`` that were no attempt."""

    signature: str
    since: float
    attempts: int = 0
    crashes: int = 0

    @property
    def due_at(self) -> float:
        """The time from which it may be requested."""
        steps = self.attempts + max(0, self.crashes - CRASHES_AT_ONCE)
        if not steps:
            return self.since
        return self.since + min(FIRST_WAIT * 2.0 ** min(steps - 1, 20), LONGEST_WAIT)

    def is_due(self, now: float) -> bool:
        """Whether it may be requested; also when the clock was set back to before it failed."""
        return now >= self.due_at or now < self.since


class Memory(Record):
    """``done``: the signature each article was last ingested with, or refused for good.

    ``unsettled``: folders that changed a moment ago, as they were; ``missing``: since when;
    ``refused``: what was reported. ``sequence`` tells batches of equal content apart: for each id, one run is started.
    """

    generation: str = ""
    sequence: int = 0
    done: dict[str, str] = Field(default_factory=dict)
    outstanding: tuple[Batch, ...] = ()
    retries: dict[str, Retry] = Field(default_factory=dict)
    unsettled: dict[str, str] = Field(default_factory=dict)
    missing: dict[str, float] = Field(default_factory=dict)
    refused: dict[str, str] = Field(default_factory=dict)


def load_memory(layout: Layout) -> Memory | None:
    """The memory; none when there is none yet, or it is damaged or of another version.

    Raises:
        StorageError: it is there and cannot be read.
    """
    path = layout.home / "sensor.json"
    if not path.is_file():
        return None
    try:
        return Memory.model_validate_json(read_bytes(path))
    except ValidationError:
        return None


def save_memory(layout: Layout, memory: Memory) -> None:
    """Write the memory as a whole.

    Raises:
        StorageError: it cannot be written.
    """
    write_bytes(layout.home / "sensor.json", memory.model_dump_json(exclude_defaults=True).encode())
