"""The measures in words: what a score says of the questions that were asked, and a short title of each measure."""

from app.schema.quality import QualityMeasure, QualityScore

_SENTENCES = {
    "article@1": "Of {n} known questions {k} find their article first",
    "article@5": "Of {n} known questions {k} find their article",
    "MRR@10": "The right article stands at about place {place}",
    "span@5": "Of {n} known answers {k} are found word for word",
    "image@5": "Of {n} known screenshots {k} are found",
    "page@5": "Of {n} known pages {k} are found",
    "AUC": "In {p} of 100 pairs the question that has an answer looks more answerable",
    "article cited": "Of {n} answers {k} refer to the right article",
    "article cited first": "Of {n} answers {k} refer to the right article first",
    "page cited": "Of {n} answers from the right document {k} name the right page",
    "page cited first": "Of {n} answers from the right document {k} open it at the right page",
    "words in the answer": "Of {n} answers {k} contain the known words",
    "right image": "Of {n} answers about a picture {k} show it",
    "citation precision": "Of 100 references {p} hold the words of their statement",
    "citation recall": "Of 100 statements {p} have their words in a passage that they refer to",
    "answered": "Of {n} questions that have an answer {k} are answered",
    "refused": "Of {n} questions that have no answer {k} are refused",
    "grounded": "Of 100 statements {p} are judged to be supported",
}
_TITLES = {
    "article@1": "Article found first",
    "article@5": "Article found",
    "MRR@10": "Place of the article",
    "span@5": "Words found",
    "image@5": "Screenshot found",
    "page@5": "Page found",
    "AUC": "Unanswerable told apart",
}


def in_words(measure: QualityMeasure, score: QualityScore) -> str:
    """What a score says; of a measure that has no sentence, its meaning."""
    if measure.name not in _SENTENCES:
        return measure.meaning[:1].upper() + measure.meaning[1:]
    if measure.name == "MRR@10" and not score.value:
        return "The right article is not among what is found first"
    place = f"{1 / score.value:.1f}".removesuffix(".0") if score.value else ""
    values = {"n": f"{score.n:,}", "k": f"{round(score.value * score.n):,}", "p": f"{100 * score.value:.0f}"}
    return _SENTENCES[measure.name].format(**values, place=place)


def title_of(measure: QualityMeasure) -> str:
    """A short title in words; the name, if that is words already."""
    return _TITLES.get(measure.name, measure.name[:1].upper() + measure.name[1:])
