"""What a question asks about documents, and how it is answered: kinds, references, plans, questions asked back. Pure.

Nothing here reads the index or the clock; :mod:`app.answering.planning.answerer` does, and follows the plans.
"""
