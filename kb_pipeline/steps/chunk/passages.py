"""Cut a chunk into the passages that are embedded: an embedder reads only so many tokens at once.

What readers find and cite is the chunk; its passages only decide how well it matches a question.
"""

from kb_pipeline.records import Chunk
from kb_pipeline.steps.chunk.blocks import parse_blocks
from kb_pipeline.steps.chunk.cutting import split_blocks
from kb_pipeline.steps.chunk.plain import CountTokens, context_line, embedding_text, plain_text


def passages_of(chunk: Chunk, *, count_tokens: CountTokens, max_tokens: int) -> list[str]:
    """Return the texts to embed for a chunk, in order: its :func:`embedding_text` if it fits, else parts of it.

    Each part begins with the context line. It has at most ``max_tokens``, unless it is a single word or the headings
    leave too little room.
    """
    text = embedding_text(chunk)
    if count_tokens(text) <= max_tokens:
        return [text]
    context = context_line(chunk.title, chunk.heading_path)
    blocks = parse_blocks(chunk.content)
    if blocks and blocks[0].kind == "heading" and blocks[0].title == chunk.section_header:
        blocks = blocks[1:]  # as the context line says it
    room = max(max_tokens - count_tokens(context), max_tokens // 2, 1)
    parts = [plain_text(part) for part in split_blocks(blocks, room, count_tokens)] if blocks else []
    return [f"{context}\n{part}" for part in parts if part] or [text]
