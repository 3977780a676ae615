"""Reads Parquet files of strangers. A few kilobytes can hold terabytes, or break the library that reads them.

So a process that may die of it reads a file through first, piece by piece, and says how much it holds.
"""

from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from kb_pipeline.errors import LimitExceededError, ScenarioError, WorkerLostError
from kb_pipeline.limited.process import LimitedProcess, ProcessLimits

MOST_COLUMNS = 1000
"""Columns of a table; Parquet of a few KB can claim millions."""
_ROWS = 1024
"""Rows that are looked at together."""
_SMALL = 256 * 1024**2
"""Bytes that are unpacked whatever the ratio: they fit into memory, and equal values pack well."""
_GROWS = 50
"""A file that holds more than this many times its size, and is not small, is no table of measurements."""
_FIT = (
    *(pa.types.is_string, pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean),
    *(pa.types.is_timestamp, pa.types.is_date, pa.types.is_null),
)
_LIMITS = ProcessLimits(seconds=300, memory_mb=1000)
"""Seconds and MB to weigh a file of the largest size."""


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
    """The bytes that the table of a file has in memory. Values that are stored once are counted, and not repeated.

    Raises:
        ScenarioError: these are more than ``most``, or there are too many columns.
    """
    told = pq.read_metadata(path)
    if (columns := told.num_columns) > MOST_COLUMNS:
        raise ScenarioError(f"{path} has {columns:,} columns; at most {MOST_COLUMNS:,} are read")
    size = sum(told.row_group(number).total_byte_size for number in range(told.num_row_groups))
    if size > most:
        raise ScenarioError(_too_large(path, most))
    size = 0
    with pq.ParquetFile(path, pre_buffer=False, read_dictionary=_repeating(told)) as file:
        for batch in file.iter_batches(batch_size=_ROWS):
            size += sum(map(_written_out_bytes, batch.columns))
            if size > most:
                raise ScenarioError(_too_large(path, most))
    return size


def _too_large(path: str, most: int) -> str:
    return f"{path} holds more than {most:,} bytes, far more than its size; write it anew"


def _repeating(told: pq.FileMetaData) -> list[str]:
    """The columns of texts whose values are stored once, and numbered."""
    columns: dict[str, None] = {}
    for group in range(told.num_row_groups):
        for number in range(told.num_columns):
            chunk = told.row_group(group).column(number)
            if chunk.physical_type == "BYTE_ARRAY" and any("DICTIONARY" in name for name in chunk.encodings):
                columns[chunk.path_in_schema] = None
    return list(columns)


def _written_out_bytes(column: pa.Array) -> int:
    """The bytes of a column whose values are no numbers of a dictionary any more."""
    if not pa.types.is_dictionary(column.type) or not _has_length(column.type.value_type):
        return int(_written_out(column).nbytes)
    lengths = pc.binary_length(column.dictionary).take(column.indices)
    return int(pc.sum(lengths.cast(pa.int64())).as_py() or 0) + 4 * len(column)


def _has_length(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind)
                or pa.types.is_large_binary(kind))  # fmt: skip
