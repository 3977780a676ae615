"""The original files of documents: given out as they are, and shown page by page with the cited sentences marked.

``files`` opens them for one person, ``drawing`` draws a page in a process of its own, ``marking`` finds sentences in
the text of a page, and ``pictures`` keeps what was drawn.
"""
