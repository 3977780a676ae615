"""How good the answers are: known questions asked of whatever answers readers, and what is counted of it.

    running   all questions of some sets, as a run of the history of evaluations
    asking    the questions, several at once, of the same answerer that the service uses
    claims    what an answer says, and whether its passages bear it out
    grading   a model's judgement of that, where it was asked for

What is counted is :mod:`kb_pipeline.evaluation.answers`; nothing here is needed to answer a reader.
"""

from app.evaluating.running import evaluate_answers

__all__ = ["evaluate_answers"]
