"""A context in the formats for prompts. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from re import findall, fullmatch
from typing import NamedTuple

from codefathom.answer.answer_types import Source
from codefathom.text.printable import escape_xml, show_name, show_text
from codefathom.types import Context, ContextFile

_BETWEEN = "\n…\n"  # excerpts of one file


def context_text(context: Context, format_name: str) -> str:
    """Return all files of a context in one of the formats files, autocoder, markdown and xml."""
    form = _FORMATS[format_name]
    return f"{form.head}{''.join(form.file(n, file) for n, file in enumerate(context.files, 1))}{form.end}"


def context_file(parts: Sequence[Source], whole_text: str = "") -> ContextFile:
    """Return the sources of one file as a file of a context; `whole_text` is its text with the last line end."""
    first = parts[0]
    text = _BETWEEN.join(part.text for part in parts)
    spans = () if first.is_whole else tuple(dict.fromkeys((part.start_line, part.end_line) for part in parts))
    symbols = tuple(dict.fromkeys(part.symbol for part in parts if part.symbol))
    text = whole_text if first.is_whole and whole_text else _ended(text)
    return ContextFile(first.path, text, first.score, first.reason, spans, symbols)


def _files(_: int, file: ContextFile) -> str:
    return f"##File: {show_name(file.path)}\n{_ended(show_text(file.text))}\n"


def _autocoder(_: int, file: ContextFile) -> str:
    """Return the form of the programs that this format comes from, to the byte: the text, then two line ends."""
    # `show_text` would give the line ends of another system.
    text = "\r\n".join(map(show_text, file.text.split("\r\n")))
    return f"##File: {show_name(file.path)}\n{text}\n\n"


def _markdown(_: int, file: ContextFile) -> str:
    # A fence must be longer than any run of backticks inside.
    longest = max((len(run) for run in findall("`{3,}", file.text)), default=2)
    fence = "`" * (longest + 1)
    ending = file.path.rpartition("/")[2].rpartition(".")
    language = ending[2] if ending[1] and fullmatch(r"[\w+#-]+", ending[2]) else ""
    text = _ended(show_text(file.text))
    return f"## {show_name(file.path)}{_lines(file)}\n\n{fence}{language}\n{text}{fence}\n\n"


def _xml(n: int, file: ContextFile) -> str:
    path, reason = (escape_xml(part).replace("\n", "&#10;").replace("\t", "&#9;") for part in (file.path, file.reason))
    text = _ended(escape_xml(file.text))
    lines = ",".join(f"{start}-{end}" for start, end in file.spans)
    attributes = f' index="{n}" path="{path}"' + (f' lines="{lines}"' if lines else "") + f' reason="{reason}"'
    return f"<document{attributes}>\n{text}</document>\n"


def _ended(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"


def _lines(file: ContextFile) -> str:
    return f" (lines {', '.join(f'{start}-{end}' for start, end in file.spans)})" if file.spans else ""


class _Format(NamedTuple):
    file: Callable[[int, ContextFile], str]  # number, file → its text
    head: str = ""
    end: str = ""


_FORMATS: Mapping[str, _Format] = {
    "files": _Format(_files),
    "autocoder": _Format(_autocoder),
    "markdown": _Format(_markdown),
    "xml": _Format(_xml, "<documents>\n", "</documents>\n"),
}
