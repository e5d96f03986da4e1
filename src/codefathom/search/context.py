"""File hits → a context under a token budget: whole files while they fit, then excerpts around the hits."""

from __future__ import annotations

from codefathom.types import Context, ContextFile, Hit, SearchResult

# Measured on source code with byte-pair tokenizers: 3.2 to 4 characters a token; the small figure never overruns.
CHARS_PER_TOKEN = 3.2
_LINES_BEFORE = 10


def gather(result: SearchResult, *, max_tokens: int) -> Context:
    """Pack the files of a result, best first. What does not fit whole gives an excerpt; the budget is never passed."""
    files: list[ContextFile] = []
    truncated: list[str] = []
    left = max_tokens
    for hit in result.hits:
        whole = _file(hit, hit.chunk.text, ())
        chosen: ContextFile | None = whole
        if count_tokens(whole.text) > left:
            truncated.append(hit.chunk.path)
            chosen = _excerpt(hit, left)
        if chosen is not None:
            files.append(chosen)
            left -= count_tokens(chosen.text)
    return Context(result.query, tuple(files), max_tokens - left, tuple(truncated))


def count_tokens(text: str) -> int:
    """Estimate the tokens of a text from its bytes, rather too high than too low."""
    return int(len(text.encode("utf-8", "replace")) / CHARS_PER_TOKEN) + 1


def _excerpt(hit: Hit, left: int) -> ContextFile | None:
    """Return as many of the lines around the best chunk as fit, or None."""
    lines = hit.chunk.text.splitlines(keepends=True)
    start = max(0, hit.line - 1 - _LINES_BEFORE)
    kept: list[str] = []
    for line in lines[start:]:
        if count_tokens("".join(kept) + line) > left:
            break
        kept.append(line)
    if not kept:
        return None
    return _file(hit, "".join(kept), ((start + 1, start + len(kept)),))


def _file(hit: Hit, text: str, spans: tuple[tuple[int, int], ...]) -> ContextFile:
    return ContextFile(hit.chunk.path, text, hit.score, hit.reason, spans, hit.chunk.names)
