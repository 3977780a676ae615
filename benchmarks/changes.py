"""What authors do to a staging folder between two ingests: edit, delete and add articles.

For generated folders. The same seed changes the same articles in the same way.
"""

import math
import random
import re
import shutil
from pathlib import Path

from benchmarks.generate import Recipe, generate, own_word
from benchmarks.material import Material
from kb_pipeline.staging import INDEX_FILE

_SENTENCE = re.compile(r"[^<>.!?]+[.!?](?=\s*</p>)")


def edit(staging: Path, share: float, seed: int) -> list[str]:
    """Replace one sentence in a share of the articles (0 to 1, rounded up); returns their ids.

    Raises:
        ValueError: an article has no paragraph that ends with a sentence.
    """
    chosen = _choose(staging, share, seed)
    for number, article_id in enumerate(chosen):
        page = staging / article_id / INDEX_FILE
        html = page.read_text(encoding="utf-8")
        sentences = list(_SENTENCE.finditer(html))
        if not sentences:
            raise ValueError(f"{page} has no paragraph that ends with a sentence; edit only generated articles")
        old = random.Random(f"{seed}/{article_id}").choice(sentences)
        new = f" This was edited in round {seed} for {own_word(number, seed)}."
        page.write_text(html[: old.start()] + new + html[old.end() :], encoding="utf-8")
    return chosen


def delete(staging: Path, share: float, seed: int) -> list[str]:
    """Remove a share of the articles (0 to 1, rounded up); returns their ids."""
    chosen = _choose(staging, share, seed)
    for article_id in chosen:
        shutil.rmtree(staging / article_id)
    return chosen


def add(staging: Path, articles: int, material: Material, recipe: Recipe) -> list[str]:
    """Generate more articles into a generated folder, with numbers above those it has; returns their ids."""
    taken = [int(article_id.rpartition("-")[2]) for article_id in _article_ids(staging)]
    return generate(staging, articles, material, recipe, first=1 + max(taken, default=-1))


def _choose(staging: Path, share: float, seed: int) -> list[str]:
    article_ids = _article_ids(staging)
    return sorted(random.Random(seed).sample(article_ids, math.ceil(len(article_ids) * share)))


def _article_ids(staging: Path) -> list[str]:
    return sorted(page.parent.name for page in staging.glob(f"*/{INDEX_FILE}"))
