"""Brings knowledge from where it lies into the staging folder: each item of a source becomes an article's folder.

A source (``base.py``) lists items and fetches one; ``running.py`` does the rest: only what changed, with several at
once, resumed after a kill, and with a guard against mass removal. ``declared.py`` reads which sources there are. Not
here: what becomes of the articles, which is :mod:`kb_pipeline.flow`'s.
"""
