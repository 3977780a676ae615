"""Runs functions in a child process with limits of wall time and memory; the process is killed at the limit.

Here are the functions with which the code inside reports its progress; :mod:`kb_pipeline.limited.process` has the
process and its limits, which the child itself does not import. Used for every article that workers build, and for every
image that is decoded.
"""

from kb_pipeline.limited.activity import doing, leave_note, progressed, waiting

__all__ = ["doing", "leave_note", "progressed", "waiting"]
