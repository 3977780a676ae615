"""The source ``website``: a part of a site, read politely into a copy below ``KB_HOME``, of which articles are made.

``crawl`` finds addresses, ``client`` asks for them politely, ``answers`` reads what comes, with ``page``, ``scripts``
and ``sitemaps``, and ``copy`` keeps it. ``resolving`` decides which addresses are one page, and ``source`` makes
articles of them. No crawler of others is used: it brings connections of its own, which the guard against internal
addresses could not see, queues of its own, and an event loop that a process can start only once.
"""
