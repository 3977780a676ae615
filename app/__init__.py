"""What answers: an agent service and a chat page. It reads the index and the serving layer, and knows no Dagster.

    question -> retrieval -> answering -> grounding -> answer with citations and images

``retrieval`` finds passages that the asking person may see, ``answering`` words an answer from them (extractively, or
by a model), ``grounding`` lets only references and images through that belong to those passages. ``api`` serves that
over HTTP, ``conversations`` keeps it, ``client`` asks for it, ``page`` shows it.
"""
