"""A conversation as a document, in Markdown and in HTML: both say what a reader has to know to judge an answer. Pure.

The HTML is one file that loads nothing and runs nothing: all text is escaped, and its policy forbids scripts.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from html import escape
from typing import Any

from codefathom.server.answers.conversation_record import Conversation, ConversationTurn

_WEAK = "Most likely nothing in the index answers this question."
_FENCE = re.compile(r" {0,3}(```|~~~)")
_HEADING = re.compile(r"^#{1,6} +(.*)$", re.MULTILINE)
# In text that is escaped already.
_MARKED = re.compile(r"`([^`\n]+)`|\*\*([^*\n]+)\*\*")
_STYLE = """\
:root { color-scheme: light dark; }
body { max-width: 52rem; margin: 2rem auto; padding: 0 1rem; font: 16px/1.55 system-ui, sans-serif; }
h1, h2 { line-height: 1.25; overflow-wrap: anywhere; } h2 { margin-top: 2.5rem; }
.answer { overflow-wrap: anywhere; white-space: pre-wrap; }
pre { overflow-x: auto; padding: .7rem; border: 1px solid #8886; border-radius: 6px; white-space: pre; }
code { font: .88em ui-monospace, monospace; overflow-wrap: anywhere; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: .15rem 1rem; font-size: .88rem; }
dd { margin: 0; overflow-wrap: anywhere; } h3 { margin: 1rem 0 .3rem; font-size: .95rem; }
ul, ol { margin: 0; padding-left: 1.6rem; font-size: .92rem; }"""
_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


@dataclass(frozen=True, slots=True)
class _Told:
    """What is told of a turn beside its text."""

    facts: tuple[tuple[str, str], ...]  # name and value
    is_weak: bool
    removed: tuple[tuple[str, str], ...]  # a citation as the model wrote it, and the reason
    problems: tuple[str, ...]
    sources: tuple[tuple[int, str, str], ...]  # number, place, symbol


def markdown(conversation: Conversation) -> str:
    """Return a conversation as a document: questions as headings, answers as they are, then their sources."""
    parts = [f"# {_title(conversation)}", f"Projects: {', '.join(conversation.projects)}"]
    for turn in conversation.turns:
        told = _told(turn)
        parts.append(f"## {' '.join(turn.question.split())}")
        parts.append(turn.answer.strip() or "(no answer)")
        parts += ["(stopped)"] if turn.state == "stopped" else []
        parts.append("  \n".join(f"{name}: {value}" for name, value in told.facts))
        parts += [_WEAK] if told.is_weak else []
        parts += _listed("Removed", [f"- `{text}`: {reason}" for text, reason in told.removed])
        parts += _listed("Problems", [f"- {problem}" for problem in told.problems])
        sources = [f"{number}. `{place}`{f' {symbol}' if symbol else ''}" for number, place, symbol in told.sources]
        parts += _listed("Sources", sources)
    return "\n\n".join(parts) + "\n"


def html(conversation: Conversation) -> str:
    """Return a conversation as one HTML file, with the same content; it loads nothing and has no script."""
    title = escape(_title(conversation))
    parts = [f"<h1>{title}</h1>", f"<p>Projects: {escape(', '.join(conversation.projects))}</p>"]
    for turn in conversation.turns:
        parts += _turn_html(turn)
    body = "\n".join(parts)
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        f"<title>{title}</title>\n<style>\n{_STYLE}\n</style>\n</head>\n<body>\n{body}\n</body>\n</html>\n"
    )


def _turn_html(turn: ConversationTurn) -> Iterator[str]:
    told = _told(turn)
    yield f"<h2>{escape(' '.join(turn.question.split()))}</h2>"
    yield f'<div class="answer">{_answer_html(turn.answer.strip() or "(no answer)")}</div>'
    if turn.state == "stopped":
        yield "<p>(stopped)</p>"
    facts = "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in told.facts)
    yield f"<dl>{facts}</dl>"
    if told.is_weak:
        yield f"<p>{escape(_WEAK)}</p>"
    yield from _list_html("Removed", "ul", [f"{_code(text)}: {escape(reason)}" for text, reason in told.removed])
    yield from _list_html("Problems", "ul", [escape(problem) for problem in told.problems])
    sources = [f'<li value="{number}">{_code(place)} {escape(symbol)}</li>' for number, place, symbol in told.sources]
    if sources:
        yield f"<h3>Sources</h3>\n<ol>{''.join(sources)}</ol>"


def _answer_html(text: str) -> str:
    """Return Markdown as HTML: blocks of code, headings, code and bold words in a line; all else stays as written."""
    parts: list[str] = []
    lines: list[str] = []
    fence = ""  # that the present block of code began with
    for line in text.splitlines():
        marks = _FENCE.match(line)
        if marks is None or (fence and marks[1] != fence):
            lines.append(line)
            continue
        parts.append(_block_html(lines, is_code=bool(fence)))
        lines, fence = [], "" if fence else marks[1]
    return "".join([*parts, _block_html(lines, is_code=bool(fence))])


def _block_html(lines: Sequence[str], *, is_code: bool) -> str:
    text = "\n".join(lines)
    return f"<pre><code>{escape(text)}</code></pre>" if is_code else _prose_html(text)


def _prose_html(text: str) -> str:
    headed = _HEADING.sub(r"**\1**", text)
    return _MARKED.sub(
        lambda match: f"<code>{match[1]}</code>" if match[1] else f"<b>{match[2]}</b>", escape(headed.strip("\n"))
    )


def _list_html(title: str, tag: str, items: Sequence[str]) -> Iterator[str]:
    if items:
        yield f"<h3>{title}</h3>\n<{tag}>{''.join(f'<li>{item}</li>' for item in items)}</{tag}>"


def _code(text: str) -> str:
    return f"<code>{escape(text)}</code>"


def _listed(title: str, items: Sequence[str]) -> list[str]:
    return [f"{title}:\n\n" + "\n".join(items)] if items else []


def _title(conversation: Conversation) -> str:
    return conversation.title or "Conversation"


def _told(turn: ConversationTurn) -> _Told:
    details = turn.details
    return _Told(
        tuple(_facts(turn)),
        bool(details.get("weak")),
        tuple((item["text"], item["reason"]) for item in details.get("dropped_citations", ())),
        tuple(details.get("degraded", ())),
        tuple(_source(source) for source in details.get("sources", ())),
    )


def _facts(turn: ConversationTurn) -> Iterator[tuple[str, str]]:
    """Yield when and of which state of the files it was answered, by whom, how surely, and for how much."""
    details = turn.details
    yield "Asked", f"{datetime.fromtimestamp(turn.asked_at, UTC):%Y-%m-%d %H:%M} UTC"
    commits: Mapping[str, str] = details.get("commits", {})
    if commits:
        several = len(details.get("projects", ())) > 1
        yield "Commit", ", ".join(f"{name} {commit}" if several else commit for name, commit in commits.items())
    if "model" in details:
        yield "Model", details["model"].split("@")[0] or "none, the answer consists of excerpts"
    usage: Mapping[str, int] = details.get("usage", {})
    if tokens := sum(usage.values()):
        yield "Tokens", f"{tokens:,}"
    if details.get("cost") is not None:
        yield "Cost", f"{details['cost']:.4f}"
    if "confidence" in details:
        label = f"{details['label']}, " if details.get("label") else ""
        yield "Confidence", f"{label}{details['confidence']:.2f}"


def _source(source: Mapping[str, Any]) -> tuple[int, str, str]:
    place = f"{source['path']}:{source['start_line']}-{source['end_line']}"
    return source["number"], place, source.get("symbol", "")
