"""kb_pipeline: folders of HTML articles become a searchable knowledge base with citations.

The way data takes is the list of layers in :mod:`kb_pipeline.layers`; Dagster meets it in
:mod:`kb_pipeline.defs`, readers meet it in :mod:`kb_pipeline.search`.
"""

__version__ = "0.1.0"
