"""The analyzer that describes images, as ``kb_image_analyzer.json`` defines it, and the name it is deployed by.

The name holds a hash of the definition: a changed one is deployed beside the one in use, a version of this program
only ever uses its own, and a service that keeps what an analyzer was before it was replaced does no harm.
"""

import json
import re
from collections.abc import Mapping
from importlib.resources import files
from typing import Any

from kb_pipeline.steps.fingerprint import sha256

DEFINITION: dict[str, Any] = json.loads(files(__package__).joinpath("kb_image_analyzer.json").read_bytes())
DEFINITION_VERSION = sha256(json.dumps(DEFINITION, sort_keys=True).encode())[:12]
COMPLETION_MODEL: str = DEFINITION["models"]["completion"]

ANALYZER_ID = f"kb_image_analyzer_{DEFINITION_VERSION}"
"""Of letters, digits and underscores, as the service demands."""

_VERSION = re.compile(r"kb_image_analyzer_[0-9a-f]{12}")


def is_version(analyzer_id: str) -> bool:
    """Whether it is the name of this analyzer, in any version."""
    return _VERSION.fullmatch(analyzer_id) is not None


def essence(analyzer: Mapping[str, Any]) -> tuple[object, ...]:
    """What two definitions of one analyzer agree in; a service may add to the rest, or word it otherwise."""
    fields = (analyzer.get("fieldSchema") or {}).get("fields") or {}
    kinds = sorted((name, field.get("type")) for name, field in fields.items())
    return (analyzer.get("baseAnalyzerId"), (analyzer.get("models") or {}).get("completion"), *kinds)
