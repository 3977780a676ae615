"""kb_pipeline: folders of HTML articles become a searchable knowledge base with citations.

The data flows through the layers listed in :mod:`kb_pipeline.flow.layers`. Dagster runs them from
:mod:`kb_pipeline.defs`; readers query the result through :mod:`kb_pipeline.search`.
"""

import os
from importlib import import_module

__version__ = "1.0.0"

# onnxruntime reads this when it is imported, which only modules of this package do, here or in their worker processes.
# Without it, onnxruntime reports this machine to its maker and stores an id for it in the user's home folder.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"

_COMPONENT = "KnowledgeBaseComponent"


def __getattr__(name: str) -> object:
    """``kb_pipeline.KnowledgeBaseComponent``, without Dagster for those who do not ask for it."""
    if name == _COMPONENT:
        return getattr(import_module("kb_pipeline.defs.component"), name)
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")


def __dir__() -> list[str]:
    return [*globals(), _COMPONENT]
