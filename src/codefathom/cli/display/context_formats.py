"""A context in the formats for prompts. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from re import findall, fullmatch
from typing import TYPE_CHECKING

from codefathom.answer.budget import shown
from codefathom.text.printable import escape_xml, show_name, show_text
from codefathom.types import Context, ContextFile

if TYPE_CHECKING:
    from codefathom.answer.answer_types import Source
    from codefathom.answer.ask import AnswerSources


def context_text(context: Context, format_name: str) -> str:
    """Return all files of a context in one of the formats files (or autocoder), markdown and xml."""
    return _FORMATS[format_name](context)


def context_of(query: str, selection: AnswerSources, count: Callable[[str], int]) -> Context:
    """Return the sources of an answer as a context, file by file, in the order in which a model is shown them."""
    by_path: dict[str, list[Source]] = {}
    for source in selection.sources:
        by_path.setdefault(source.path, []).append(source)
    files = tuple(_file(path, parts) for path, parts in by_path.items())
    n_tokens = sum(count(shown(source)) for source in selection.sources)
    cut = (file.path for file in files if file.spans)
    return Context(query, files, n_tokens, (*cut, *selection.left_out), selection.degraded)


def _file(path: str, parts: list[Source]) -> ContextFile:
    first = parts[0]
    text = _ended("\n…\n".join(part.text for part in parts))
    spans = () if first.is_whole else tuple((part.start_line, part.end_line) for part in parts)
    symbols = tuple(dict.fromkeys(part.symbol for part in parts if part.symbol))
    return ContextFile(path, text, first.score, first.reason, spans, symbols)


def _files(context: Context) -> str:
    return "".join(f"##File: {show_name(file.path)}\n{_ended(show_text(file.text))}\n" for file in context.files)


def _markdown(context: Context) -> str:
    return "".join(_markdown_file(file) for file in context.files)


def _markdown_file(file: ContextFile) -> str:
    # A fence must be longer than any run of backticks inside.
    longest = max((len(run) for run in findall("`{3,}", file.text)), default=2)
    fence = "`" * (longest + 1)
    ending = file.path.rpartition("/")[2].rpartition(".")
    language = ending[2] if ending[1] and fullmatch(r"[\w+#-]+", ending[2]) else ""
    text = _ended(show_text(file.text))
    return f"## {show_name(file.path)}{_lines(file)}\n\n{fence}{language}\n{text}{fence}\n\n"


def _xml(context: Context) -> str:
    return f"<documents>\n{''.join(_xml_file(n, file) for n, file in enumerate(context.files, 1))}</documents>\n"


def _xml_file(n: int, file: ContextFile) -> str:
    path, reason = (escape_xml(part).replace("\n", "&#10;").replace("\t", "&#9;") for part in (file.path, file.reason))
    text = _ended(escape_xml(file.text))
    lines = ",".join(f"{start}-{end}" for start, end in file.spans)
    attributes = f' index="{n}" path="{path}"' + (f' lines="{lines}"' if lines else "") + f' reason="{reason}"'
    return f"<document{attributes}>\n{text}</document>\n"


def _ended(text: str) -> str:
    return text if text.endswith("\n") else text + "\n"


def _lines(file: ContextFile) -> str:
    return f" (lines {', '.join(f'{start}-{end}' for start, end in file.spans)})" if file.spans else ""


_FORMATS: Mapping[str, Callable[[Context], str]] = {
    "files": _files,
    "autocoder": _files,
    "markdown": _markdown,
    "xml": _xml,
}
