"""kb_pipeline: folders of HTML articles become a searchable knowledge base with citations.

The data flows through the layers listed in :mod:`kb_pipeline.flow.layers`. Dagster runs them from
:mod:`kb_pipeline.defs`; readers query the result through :mod:`kb_pipeline.search`.
"""

import os

__version__ = "1.0.0"

# onnxruntime reads this when it is imported, which only modules of this package do, here or in their worker processes.
# Without it, onnxruntime reports this machine to its maker and stores an id for it in the user's home folder.
os.environ["ORT_DISABLE_TELEMETRY"] = "1"
