"""Measures how good answers and diagnoses are: asks what is known already of the parts that readers use.

    running     all questions of some sets, as one run of the history of evaluations
    asking      the questions, several at once, of the same answerer that the service uses
    claims      the claims of an answer, and whether its passages support them
    grading     a model's judgement of that, if requested
    diagnosing  the recorded incidents of a network, as one run of the history of its scenario

:mod:`kb_pipeline.evaluation.answers` and :mod:`kb_pipeline.evaluation.diagnosis` compute the scores. Answering readers
does not need this package.
"""

from app.evaluating.running import evaluate_answers

__all__ = ["evaluate_answers"]
