"""Restoring what a service's markdown lost: image positions, hyperlinks, code, heading levels, clean blocks.

A service (OCR or a document analyzer) is given the article as one clean page and answers with markdown of its own:

    page = service_html(article_id, html, images)         # what to print, or to send as text/html
    local = convert_html(article_id, html, images)         # the truth about everything but the service's words
    article = restore_article(local, markdown, converter)  # ``markdown``: a text, or the texts of its pages in order

In the page, each content image is ``<span class="marker">[[IMG:<name>]]</span>``, where ``<name>`` is the file's own
name if that is short, plain and unmistakable, else an alias (``aliases``). Nobody needs a table of them: it follows
from the article's images.

Pure functions. Not here: calling a service, printing the page, describing images.
"""

from kb_pipeline.steps.restore.article import restore_article
from kb_pipeline.steps.restore.page import service_html

RESTORE_VERSION = "1"
"""Raise it whenever the same answer of a service would give another article; part of a converter's name."""

__all__ = ["RESTORE_VERSION", "restore_article", "service_html"]
