"""Measures how good the answers are: asks known questions of the answerer that readers use.

    running   all questions of some sets, as one run of the history of evaluations
    asking    the questions, several at once, of the same answerer that the service uses
    claims    the claims of an answer, and whether its passages support them
    grading   a model's judgement of that, if requested

:mod:`kb_pipeline.evaluation.answers` computes the scores. Answering readers does not need this package.
"""

from app.evaluating.running import evaluate_answers

__all__ = ["evaluate_answers"]
