"""What a document is about, in sentences of its own: a brief and a standard summary; its first-level
headings; and its topics.

Pure functions over the converted markdown, in any language that ends its sentences with a mark. Not here: facts that
are not in the text (author, department), and where a summary is kept.
"""

from kb_pipeline.steps.summary.extract import LONGEST_BRIEF, LONGEST_STANDARD, SUMMARY_VERSION, summarise
from kb_pipeline.steps.summary.prose import first_headings, readable_text
from kb_pipeline.steps.summary.topics import topics_of

__all__ = [
    "LONGEST_BRIEF",
    "LONGEST_STANDARD",
    "SUMMARY_VERSION",
    "first_headings",
    "readable_text",
    "summarise",
    "topics_of",
]
