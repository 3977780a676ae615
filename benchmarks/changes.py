"""Changes that authors make to a staging folder between two ingests: edits, deletions and new articles.

Use it on copies only. The same seed changes the same articles in the same way.
"""

import math
import random
import re
import shutil
from pathlib import Path

from benchmarks.generate import Recipe, generate, own_word
from benchmarks.material import Material
from kb_pipeline.store.staging import INDEX_FILE

_SENTENCE = re.compile(r"[^<>.!?]+[.!?](?=\s*</p>)")


def edit(staging: Path, share: float, seed: int) -> list[str]:
    """Replace one sentence in a share of the articles (0 to 1, rounded up); returns their ids.

    Skips articles without a paragraph that ends with a sentence.

    Raises:
        ValueError: too few articles have one.
    """
    article_ids = _article_ids(staging)
    wanted = math.ceil(len(article_ids) * share)
    edited: list[str] = []
    for article_id in random.Random(seed).sample(article_ids, len(article_ids)):
        if len(edited) == wanted:
            break
        if _edit(staging / article_id / INDEX_FILE, f"{seed}/{article_id}", own_word(len(edited), seed), seed):
            edited.append(article_id)
    if len(edited) < wanted:
        raise ValueError(f"only {len(edited)} articles of {staging} have a paragraph that ends with a sentence")
    return sorted(edited)


def _edit(page: Path, which: str, word: str, seed: int) -> bool:
    """Replace the sentence that ``which`` draws; return whether there was one."""
    html = page.read_text(encoding="utf-8")
    sentences = list(_SENTENCE.finditer(html))
    if not sentences:
        return False
    old = random.Random(which).choice(sentences)
    page.write_text(f"{html[: old.start()]} This was edited in round {seed} for {word}.{html[old.end() :]}", "utf-8")
    return True


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
