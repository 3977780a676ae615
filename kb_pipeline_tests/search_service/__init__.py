"""A stand-in for an Azure AI Search service, in memory, on loopback. It is a fake: written for these tests, by us.

What it really does: keeps indexes, aliases and documents, with ETags; refuses what the service refuses and a contract
of requests cannot tell (illegal keys, unknown, non-filterable, non-sortable and non-searchable fields, vectors of
another width, terms above 32 KB, batches above 1,000 documents or 16 MB, OData that is no OData, deleting an index
that an alias names); parses filters and meets them; ranks by BM25 over stemmed words, by cosine, and by reciprocal
rank fusion of both; shows what was written only after a delay, if asked to; throttles, fails and answers late, if
asked to.

What it does not: rank like the service (its stemmer is crude, its semantic ranker counts words), quantise, search
vectors approximately, know roles or quotas, split a service into replicas and partitions. Its rules come from the
service's documentation; only a real service can show that they are all of them.
"""
