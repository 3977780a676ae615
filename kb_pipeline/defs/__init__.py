"""Dagster's side: assets, checks, jobs, schedules, the sensor.

Assets are thin: what they do is in :mod:`kb_pipeline.flow` and :mod:`kb_pipeline.upkeep`.
"""

import warnings

import dagster as dg

# Dagster warns of code references, and of a parameter of sensors that only itself passes, each time it loads them
warnings.filterwarnings(
    "ignore",
    message="(Function `with_source_code_ref|Class `(LocalFileCodeRef|CodeReferencesM)|Parameter `owners` of init)",
    category=dg.BetaWarning,
)
