"""Restore what a service's markdown lost: image positions, hyperlinks, code, heading levels, clean blocks.

A service (OCR or a document analyzer) gets the article as one clean page and returns its own markdown:

    page = service_html(article_id, html, images)         # to print, or to send as text/html
    local = convert_html(article_id, html, images)         # the truth about everything but the service's words
    article = restore_article(local, markdown, converter)  # ``markdown``: one text, or the texts of the pages in order

On the page, each content image is ``<span class="marker">[[IMG:<name>]]</span>``, where ``<name>`` is the name of the
file if it is short, plain and unmistakable, else an alias (``recognise.aliases_of``). Aliases are not stored, because
they follow from the article's images.

A document (PDF, DOCX, PPTX) is sent as it is, and the service's structure stands:

    own = own_reading(article_id, name, ...)               # as our own source read the document
    article = restore_document(own, texts, converter)      # ``texts``: one of each page, or one of the whole

Which file carries which kind of damage (each rule was switched off by itself, on real articles with the doubles of
``benchmarks/restoring.py``, and in the tests):

- ``align``, ``words``: words in order; letters of misread words; matches by chance, which would misplace images
- ``recognise``: markers with other brackets, misread names, as figures or as images of the service
- ``markers``: lost images, by the words before, or else after them; those of cells, of lost or moved paragraphs
- ``links``: lost links, by their label in its place, or where both texts have it once; labels without words; what was
  said in other words, by the service's own link or the only such label there (both together 5 links of 433)
- ``sections``: levels of headings, without which a third of the articles fail their checks; the end of a section
- ``code``: blocks that were read as text, text that was read as code: links cannot begin in it
- ``joins``: words, lines and tables that a page's end cuts in two
- ``page``: what services add: frames, boxes, formulas for arrows, comments

What none of them places is put at the end of its section and counted, and the article fails a check.

Pure functions. Not here: calling a service, printing the page, describing images.
"""

from kb_pipeline.steps.restore.article import restore_article
from kb_pipeline.steps.restore.document import DOCUMENT_VERSION, own_reading, restore_document
from kb_pipeline.steps.restore.page import service_html

RESTORE_VERSION = "3"
"""Part of a converter's name. Increase it whenever the same answer of a service would give a different article."""

__all__ = ["DOCUMENT_VERSION", "RESTORE_VERSION", "own_reading", "restore_article", "restore_document", "service_html"]
