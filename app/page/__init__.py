"""The chat page: it asks the agent service by :mod:`app.client`, and knows nothing of indexes or models.

    main      frame of all pages: theme, logo, navigation, conversations, failures
    chat      one conversation: welcome, turns, live (an answer while it is worded), source (what a reference leads to)
    knowledge_base    articles, article, searching
    quality   what was measured: quality_history, quality_scores, quality_changes (between two runs), quality_questions
    running   answers that are under way, whatever the reader does meanwhile
    markup    markdown as HTML that is safe to show: marking (used sentences), figures (images); labels of widgets
    bridge    clicks inside of that HTML
    server    the web server, which also brings images from the service

Nothing is imported here: whoever only wants the command does not pay for Streamlit.
"""


def page_command(port: int) -> list[str]:
    """What ``python -m`` is given to serve the page on loopback, from any working directory, until told to end."""
    return ["app.page", "--port", str(port)]
