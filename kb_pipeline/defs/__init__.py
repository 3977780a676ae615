"""Dagster's side of the knowledge base: thin, and the only place that knows Dagster.

``assets.py`` is the flow; what its steps do is in :mod:`kb_pipeline.build` and the layers.
"""
