"""The chat page, a Streamlit application. It calls the agent service through :mod:`app.client` and nothing else.

    main            the frame of all pages: theme, logo, navigation, sidebar, errors
    chat            one conversation: welcome, questions, answers, feedback
    source          the passage that a reference opens
    knowledge_base  the list of articles, one article, search
    quality         evaluation runs: quality_history (charts), quality_scores (table)
    running         answers in progress, which continue when the reader clicks elsewhere
    markup          markdown as safe HTML; labels: safe texts of widgets
    bridge          clicks inside of that HTML
    server          the web server, which also fetches images from the service

Nothing is imported here, so that getting the command does not import Streamlit.
"""


def page_command(port: int) -> list[str]:
    """The arguments of ``python -m`` that serve the page on loopback, from any working directory."""
    return ["app.page", "--port", str(port)]
