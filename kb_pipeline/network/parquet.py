"""Reads Parquet files of strangers. A few kilobytes can hold terabytes, or break the library that reads them.

So a process that may die of it reads a file through first, piece by piece, and says how much it holds.
"""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from kb_pipeline.errors import LimitExceededError, ScenarioError, WorkerLostError
from kb_pipeline.limited.process import LimitedProcess, Limits

MOST_COLUMNS = 1000
_ROWS = 1024
"""Rows that are looked at together."""
_SMALL = 256 * 1024**2
_GROWS = 50
"""A file that holds more than this many times its size, and is not small, is no table of measurements."""
_FIT = (
    *(pa.types.is_string, pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean),
    *(pa.types.is_timestamp, pa.types.is_date, pa.types.is_null),
)
_LIMITS = Limits(seconds=300, memory_mb=1000)


def read_parquet(path: Path) -> pa.Table:
    """The table of a file.

    Raises:
        ScenarioError: it holds far more than its size, has too many columns or such of other types than texts,
            numbers and times, or cannot be read.
    """
    process = LimitedProcess(quiet=True)
    try:
        process.call(weigh, str(path), max(_SMALL, _GROWS * path.stat().st_size), limits=_LIMITS)
    except (LimitExceededError, WorkerLostError) as exc:
        raise ScenarioError(f"{path} cannot be read: it takes too much time or memory, or is damaged") from exc
    finally:
        process.kill()
    read = pq.ParquetFile(path).read()
    return pa.table({name: _plain(path, name, read[name]) for name in read.column_names})


def _plain(path: Path, name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    column = _written_out(column)
    kind = column.type
    if pa.types.is_large_string(kind) or pa.types.is_string_view(kind):
        return column.cast(pa.string())
    if pa.types.is_decimal(kind) or pa.types.is_float16(kind):
        return column.cast(pa.float64())
    if not any(fits(kind) for fits in _FIT):
        raise ScenarioError(f"{path}, column {name}: {kind} is neither text, number nor time"[:500])
    return column


def _written_out(column: Any) -> Any:  # noqa: ANN401
    """A column whose values are not numbers of a dictionary."""
    return column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column


def weigh(path: str, most: int) -> int:
    """The bytes that the table of a file has in memory.

    Raises:
        ScenarioError: these are more than ``most``, or there are too many columns.
    """
    with pq.ParquetFile(path, pre_buffer=False) as file:
        if (columns := file.metadata.num_columns) > MOST_COLUMNS:
            raise ScenarioError(f"{path} has {columns:,} columns; at most {MOST_COLUMNS:,} are read")
        size = 0
        for batch in file.iter_batches(batch_size=_ROWS):
            size += sum(_written_out(column).nbytes for column in batch.columns)
            if size > most:
                raise ScenarioError(f"{path} holds more than {most:,} bytes, far more than its size; write it anew")
    return size
