"""How good the knowledge base is, measured with questions whose answers are known.

Here: question sets, asking them, measures with intervals, the history of what was measured, and the judgement of a new
generation of the index. Not here: Dagster, the page, how answers are made.
"""
