"""The chat page, a Streamlit application. It calls the agent service through :mod:`app.client` and nothing else.

    main            the frame of all pages: theme, logo, navigation, sidebar, errors
    chat            one conversation: welcome, questions, answers, feedback
    audience        for whom a part of the page is: readers, authors, who answers for it, engineers
    asking          what a reader asks: a question and the picture that may come with it
    scope           where the next questions are searched
    source          the panel of the section that a reference opens
    knowledge_base  the list of articles, search
    article         one article, opened at a section if a source leads to it
    quality         evaluation runs: quality_history (charts), quality_scores (table)
    network         investigations of alerts beside a map: topology (map), timeline (steps, report), network_log
    running         answers in progress, which continue when the reader clicks elsewhere; investigations: likewise
    places          the addresses of conversations, sources and articles
    sections        the sections that an answer cites, and where they stand in their articles
    markup          markdown as safe HTML; labels: safe texts of widgets
    bridge          clicks inside of that HTML
    server          the web server, which also fetches images from the service
    frame           the HTML before Streamlit's scripts have come, with waiting.js; kept: files that browsers keep

Nothing is imported here, so that getting the command does not import Streamlit.
"""


def page_command(port: int) -> list[str]:
    """The arguments of ``python -m`` that serve the page on loopback, from any working directory."""
    return ["app.page", "--port", str(port)]
