"""Evaluates the knowledge base with questions whose answers are known.

Contains question sets, measures with confidence intervals, the history of evaluations, and the gate that judges a new
generation of the index. Nothing here depends on Dagster or the app, which makes the answers.
"""
