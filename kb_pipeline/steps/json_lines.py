"""Files of JSON lines that people write: one object a line, empty lines are ignored, and a faulty line is told by its
number."""

from collections.abc import Iterator
from typing import TypeVar

from pydantic import BaseModel, ValidationError

from kb_pipeline.steps.strict_json import strict_json

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
T = TypeVar("T", bound=BaseModel)


def numbered_lines(data: bytes) -> Iterator[tuple[int, bytes]]:
    """Lines that are not empty, with their numbers. Only a line feed ends a line."""
    for number, line in enumerate(data.removeprefix(_BYTE_ORDER_MARK).split(b"\n"), 1):
        if stripped := line.strip():
            yield number, stripped


def read_line(model: type[T], line: bytes) -> T:
    """What a line holds.

    Raises:
        ValueError: it is no such object; the message names the first field that is wrong, and why.
    """
    try:
        read = model.model_validate_json(line)
        strict_json(line.decode())  # a key that stands twice
        return read
    except ValidationError as exc:
        problem = exc.errors(include_url=False, include_input=False)[0]
        field = ".".join(map(str, problem["loc"]))
        message = problem["msg"].removeprefix("Value error, ")
        raise ValueError(f"{field}: {message}" if field else message) from exc
