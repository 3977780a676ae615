"""Runs functions in a child process with limits of wall time and memory; the process is killed at the limit.

Contains the process (:class:`LimitedProcess`), the limits, and functions with which the code inside reports its
progress. Used for every article that workers build, and for every image that is decoded.
"""

from kb_pipeline.limited.activity import doing, leave_note, waiting
from kb_pipeline.limited.process import UNLIMITED, LimitedProcess, Limits

__all__ = ["UNLIMITED", "LimitedProcess", "Limits", "doing", "leave_note", "waiting"]
