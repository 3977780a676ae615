"""The source ``website``: a part of a site, read politely into a copy below ``KB_HOME``, of which articles are made.

``crawl`` finds and asks, ``client`` is polite, ``copy`` keeps what was answered, ``page`` and ``sitemaps`` read it, and
``source`` makes articles of it. A kept crawler is not used: it brings its own connections, which the guard against
addresses of the inside could not see, its own queues, and an event loop that a process can start only once.
"""
