"""Results as text for people. Pure: values in, text out; nothing here prints."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import NamedTuple

from codefathom.cli.progress import duration
from codefathom.types import Check, Failure, FoundSymbol, Hit, IndexReport, RelatedResult, SearchResult, Status

_EXCERPT_LINES = 6
_LINES_BEFORE_BEST = 2
_MAX_LINE_CHARS = 200
_MAX_LISTED = 20
_MAX_CHECK_NAME = 20  # longer ones do not push all others aside
_MAX_ALIKE = 3  # files that failed for one reason and are still named one by one
# What is in a repository is data: its control characters must not steer the terminal.
_BIDI = (*range(0x202A, 0x202F), *range(0x2066, 0x206A))  # turn around what follows them
_CONTROL = {code: "\N{REPLACEMENT CHARACTER}" for code in (*range(32), *range(127, 160), *_BIDI) if code not in {9, 10}}


class Style(NamedTuple):
    """Marks text for a terminal, or leaves it alone."""

    colour: bool = False

    def strong(self, text: str) -> str:
        """What a result is about."""
        return f"\x1b[1;36m{text}\x1b[0m" if self.colour else text

    def faint(self, text: str) -> str:
        """What explains it."""
        return f"\x1b[2m{text}\x1b[0m" if self.colour else text

    def alarm(self, text: str) -> str:
        """What went wrong."""
        return f"\x1b[1;31m{text}\x1b[0m" if self.colour else text


def safe(text: str) -> str:
    """Return text without characters that steer a terminal."""
    return text.translate(_CONTROL)


def search_text(
    result: SearchResult, style: Style, *, whole: bool, explain: Callable[[Mapping[str, float]], Iterable[str]]
) -> str:
    """Return all hits: place, kind, name and score, the reason, what `explain` says about the signals, an excerpt."""
    blocks = []
    for hit in result.hits:
        lines = [_header(hit, style)]
        if hit.reason:
            lines.append(style.faint(f"  {safe(hit.reason)}"))
        lines += [style.faint(f"    {line}") for line in explain(hit.signals)]
        lines += _excerpt(hit, style, whole=whole)
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)


def _header(hit: Hit, style: Style) -> str:
    chunk = hit.chunk
    place = style.strong(safe(f"{chunk.path}:{chunk.start_line}-{chunk.end_line}"))
    # The kind is that of the first symbol; of another one that is shown instead it is not known.
    kind = chunk.kind if hit.name in (chunk.symbol, *chunk.names[:1], "") else ""
    return f"{place}  {safe(' '.join(part for part in (kind, hit.name) if part))}  {hit.score:.2f}"


def _excerpt(hit: Hit, style: Style, *, whole: bool) -> list[str]:
    first = hit.chunk.start_line
    lines = hit.chunk.text.split("\n")
    if lines[-1] == "":
        lines.pop()
    start, end = 0, len(lines)
    if not whole and end > _EXCERPT_LINES:
        best = max(0, hit.line - first)
        start = max(0, min(best - _LINES_BEFORE_BEST, end - _EXCERPT_LINES))
        end = start + _EXCERPT_LINES
    while end - start > 1 and not lines[end - 1].strip():
        end -= 1
    while end - start > 1 and not lines[start].strip():
        start += 1
    width = len(str(first + end - 1))
    shown = (safe(line.rstrip("\r"))[:_MAX_LINE_CHARS] for line in lines[start:end])
    return [f"  {style.faint(f'{first + start + n:>{width}}')}  {line}".rstrip() for n, line in enumerate(shown)]


def symbols_text(found: Iterable[FoundSymbol], style: Style) -> str:
    """Return one line for each symbol: place, kind, qualified name, signature."""
    return "".join(_symbol_line(item, style) for item in found)


def _symbol_line(item: FoundSymbol, style: Style) -> str:
    symbol = item.symbol
    place = style.strong(safe(f"{item.path}:{symbol.name_line}"))
    signature = style.faint(safe(symbol.signature)[:_MAX_LINE_CHARS])
    return f"{place}  {symbol.kind} {safe(symbol.qualified_name)}  {signature}".rstrip() + "\n"


def related_text(result: RelatedResult, style: Style) -> str:
    """Return the edges grouped by kind, in the order in which they were found."""
    lines: list[str] = []
    for kind in dict.fromkeys(edge.kind for edge in result.edges):
        lines.append(f"{kind}:")
        for edge in (edge for edge in result.edges if edge.kind == kind):
            place = style.strong(safe(f"{edge.path}:{edge.line}"))
            inside = f" in {safe(edge.symbol)}" if edge.symbol else ""
            step = f"  (step {edge.depth})" if edge.depth > 1 else ""
            lines.append(f"  {place}  {safe(edge.name)}{inside}{step}")
    return "".join(line + "\n" for line in lines)


def report_text(report: IndexReport, *, whole: bool) -> str:
    """Return what an index run did, or would do: lists of paths for a dry run or when `whole`, then a summary."""
    lines: list[str] = []
    if report.dry_run or whole:
        for mark, paths in (("+", report.added), ("~", report.changed), ("-", report.removed)):
            shown = paths if whole else paths[:_MAX_LISTED]
            lines += [f"{mark} {safe(path)}" for path in shown]
            if len(paths) > len(shown):
                lines.append(f"{mark} … and {len(paths) - len(shown)} more (-v lists all)")
    each = [_failed(failure) for failure in report.failures]
    failed = each if whole else _failures(report.failures)
    lines += [f"failed: {line}" for line in failed]
    if failed != each:
        lines.append("failed: … (-v lists all)")
    lines.append(_summary(report))
    lines += _for_model(report)
    if report.paused:
        lines.append(f"paused: {report.paused}")
    return "".join(line + "\n" for line in lines)


def _failed(failure: Failure) -> str:
    return f"{safe(failure.path)}: {safe(failure.reason)}"


def _failures(failures: Sequence[Failure]) -> list[str]:
    """Return a line for each file, but one for all that share a reason when they are many; not too many lines."""
    by_reason: dict[str, list[Failure]] = {}
    for failure in failures:
        by_reason.setdefault(failure.reason, []).append(failure)
    lines: list[str] = []
    for reason, alike in by_reason.items():
        if len(alike) <= _MAX_ALIKE:
            lines += map(_failed, alike)
        else:
            lines.append(f"{len(alike)} files, {safe(alike[0].path)} the first: {safe(reason)}")
    n_more = len(lines) - _MAX_LISTED
    return lines if n_more <= 0 else [*lines[:_MAX_LISTED], f"… and {n_more} more"]


def _summary(report: IndexReport) -> str:
    counts = [(len(report.added), "added"), (len(report.changed), "changed"), (len(report.removed), "removed")]
    counts += [(report.n_unchanged + report.n_touched, "unchanged")]
    counts += [(len(report.skipped), "skipped"), (len(report.failures), "failed")]
    done = ", ".join(f"{n} {word}" for n, word in counts if n) or "nothing to do"
    if report.dry_run:
        return f"would index {size(report.n_bytes)}, about {report.n_chunks} new chunks: {done}"
    return f"{report.n_chunks} chunks in the index after {duration(report.seconds)}: {done}"


def _for_model(report: IndexReport) -> list[str]:
    """Say what goes to a language model, if something does."""
    sent = report.for_model
    parts = [f"{_files(sent.n_files)} to parse"] if sent.n_files else []
    parts += [f"the heads of {_files(sent.n_purposes)} for their purpose"] if sent.n_purposes else []
    verb = "would send to the language model, at most" if report.dry_run else "sent to the language model"
    return [f"{verb}: {' and '.join(parts)}, about {sent.n_tokens} tokens"] if parts else []


def _files(n: int) -> str:
    return "1 file" if n == 1 else f"{n} files"


def status_text(status: Status, style: Style, *, skipped: bool) -> str:
    """Return what the index holds; with `skipped` the list of files that are left out, and why."""
    if skipped:
        return "".join(f"{style.strong(safe(item.path))}  {item.reason}\n" for item in status.skipped)
    rows = [
        ("project", safe(status.root)),
        ("index", f"{safe(status.index_dir)} ({size(status.n_bytes)}, generation {status.generation})"),
        ("files", f"{status.n_documents} indexed, {len(status.skipped)} skipped, {len(status.failures)} failed"),
        ("chunks", f"{status.n_chunks} ({status.n_without_vector} without vector)"),
        ("symbols", str(status.n_symbols)),
        ("languages", _counts(status.languages)),
        ("kinds", _counts(status.kinds)),
        ("model", status.model),
        ("up to date", _freshness(status)),
    ]
    rows += [("failed", line) for line in _failures(status.failures)]
    if status.paused:
        rows.append(("paused", safe(status.paused)))
    return "".join(f"{name:<11} {value}\n" for name, value in rows)


def _freshness(status: Status) -> str:
    if not status.generation:
        return "no index yet; the first search makes it"
    problems = [f"{status.pending} files changed since"] if status.pending else []
    if not status.views_current:
        problems.append("views are behind the catalogue and will be rebuilt")
    return "; ".join(problems) or "yes"


def _counts(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{name} {n}" for name, n in ordered) or "none"


def checks_text(checks: Iterable[Check], style: Style) -> str:
    """Return one line for each check, and what to do about those that failed."""
    listed = list(checks)
    width = max((len(check.name) for check in listed if len(check.name) <= _MAX_CHECK_NAME), default=0)
    return "".join(_check_lines(check, width, style) for check in listed)


def _check_lines(check: Check, width: int, style: Style) -> str:
    mark = "ok  " if check.ok else style.alarm("FAIL")
    hint = f"      {safe(check.hint)}\n" if check.hint and not check.ok else ""
    return f"{mark}  {check.name:<{width}} {safe(check.detail)}\n{hint}"


def setting_line(key: str, value: object, origin: str, style: Style, explanation: str) -> str:
    """Return one setting as it stands in a settings file, and where its value comes from."""
    above = style.faint(f"# {explanation}") + "\n" if explanation else ""
    return f"{above}{key} = {as_toml(value)}  {style.faint(f'# {safe(origin)}')}\n"


def as_toml(value: object) -> str:
    """Return a value as it is written in a settings file."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(as_toml(part) for part in value)}]"
    if isinstance(value, str):
        return '"' + safe(value).replace("\\", "\\\\").replace('"', '\\"') + '"'
    return str(value)


def size(n_bytes: int) -> str:
    """Return a number of bytes in words: 812 B, 3.4 kB, 12 MB."""
    amount = float(n_bytes)
    for unit in ("B", "kB", "MB"):
        if amount < 1000:
            return f"{amount:.0f} {unit}" if unit == "B" or amount >= 10 else f"{amount:.1f} {unit}"
        amount /= 1000
    return f"{amount:.1f} GB"
