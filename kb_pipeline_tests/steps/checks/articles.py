"""An article taken through the real steps, to be broken by the tests. No tests here."""

from dataclasses import dataclass
from functools import cache

from kb_pipeline.records import (
    Chunk,
    ConvertedArticle,
    DescribedImages,
    ImageDescription,
    ImageReference,
    Manifest,
    ServedImage,
)
from kb_pipeline.steps.chunk import chunk_article
from kb_pipeline.steps.markers import ImageBlock
from kb_pipeline.steps.merge_images import merge_images
from kb_pipeline_tests.steps.chunk.articles import count_words, manifest
from kb_pipeline_tests.steps.html.pages import convert, image

WINDOW = 40

PAGE = """
<h1>Saving &amp; exporting</h1>
<p>Press <a href="save.html">Save</a> or <a href="file:///usr/share/doc/a b"><code>file</code> help</a>.
   A literal &lt;div&gt; and &amp;nbsp; are words here; H<sub>2</sub>O too.</p>
<ol><li>Open the menu. <img src="menu.png"></li><li>See <a href="?a=1&amp;copy=2">this</a>.</li></ol>
<h2>Options</h2>
<table><tr><th>Key</th><th>Meaning</th></tr><tr><td>S<br>or T</td><td>Save <img src="key.png"></td></tr>
<tr><td>E</td><td><a href="x|y">Export</a></td></tr></table>
<h2>Script</h2>
<p>Run this with care:</p><pre>&lt;div&gt; &amp;nbsp; {{ x }} [[IMG:menu.png]]</pre>
<h3>Again</h3>
<p>The same menu, <img src="menu.png"> shown below once more.</p>
"""


def description(file: str) -> ImageDescription:
    return ImageDescription(description=f"# *Dialog*  of {file}\nwith <OK>", ui_elements=("OK", "No"))


@dataclass(frozen=True)
class Article:
    """What each layer made of :data:`PAGE`; ``markdown`` is ``article.md``."""

    converted: ConvertedArticle
    described: DescribedImages
    markdown: str
    manifest: Manifest
    chunks: list[Chunk]


@cache
def sound() -> Article:
    converted = convert(PAGE, image("menu.png"), image("key.png"))
    described = DescribedImages(descriptions={i.file: description(i.file) for i in converted.images})
    blocks = {i.file: ImageBlock(stem=i.stem, **description(i.file).model_dump()) for i in converted.images}
    markdown = merge_images(converted.markdown, blocks).markdown
    served = manifest(converted.article_id, converted.title, images=tuple(map(_served, converted.images)))
    chunks = chunk_article(markdown, served, count_tokens=count_words, max_tokens=WINDOW, min_tokens=4)
    return Article(converted, described, markdown, served, chunks)


def _served(reference: ImageReference) -> ServedImage:
    return ServedImage(
        path=f"images/{reference.stem}.png",
        source_file=reference.file,
        source_sha256=reference.sha256,
        sha256="png",
        width=1,
        height=1,
        description=description(reference.file),
    )
