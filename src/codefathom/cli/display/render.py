"""Results as text for people. Pure: values in, text out; nothing here prints."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from codefathom.facts.reasons import BY_HEAD
from codefathom.search.graph.edge_list import remarks, title
from codefathom.search.ranking.excerpt import window
from codefathom.search.verdict import note_of_map
from codefathom.text.printable import cut_line, duration, escape_toml, show_line, show_name, show_text, size
from codefathom.types.hits import Hit, SearchResult
from codefathom.types.skipped_files import Failure
from codefathom.types.symbols import FoundSymbol

if TYPE_CHECKING:
    from codefathom.cli.display.output import Style
    from codefathom.search.graph.project_map import ProjectMap
    from codefathom.types.edges import RelatedResult
    from codefathom.types.index_runs import IndexReport, PathReport, ScipReport
    from codefathom.types.index_states import Check, CompilerFiles, KnownCommits, SecretPlace, Status
    from codefathom.types.listed_files import IndexedFile

_EXCERPT_LINES = 6
_MAX_LINE_CHARS = 200
_CHARS_BEFORE_COLUMN = 40
_MAX_LISTED = 20
_MAX_CHECK_NAME = 20  # longer ones do not push all others aside
_MAX_ALIKE = 3  # files that failed for one reason and are still named one by one


def search_text(result: SearchResult, style: Style, *, whole: bool, explain: Callable[[Hit], Iterable[str]]) -> str:
    """Return all hits: place, kind, name and score, the reason, the lines of `explain` on the signals, an excerpt."""
    blocks = []
    for hit in result.hits:
        lines = [_header(hit, style)]
        if hit.commit is not None:
            lines.append(f"  {show_line(hit.commit.origin)}")
        if hit.reason:
            lines.append(style.faint(f"  {show_line(hit.reason)}"))
        lines += [style.faint(f"    {line}") for line in explain(hit)]
        lines += _excerpt(hit, style, whole=whole)
        blocks.append("\n".join(lines) + "\n")
    return "\n".join(blocks)


def places_text(hits: Iterable[Hit], style: Style) -> str:
    """Return the first line of each hit alone."""
    return "".join(f"{_header(hit, style)}\n" for hit in hits)


def _header(hit: Hit, style: Style) -> str:
    chunk = hit.chunk
    place = style.strong(f"{show_name(chunk.path)}:{chunk.start_line}-{chunk.end_line}{_in_document(hit.place)}")
    names = (show_line(hit.kind), show_name(hit.name))
    return f"{place}  {' '.join(part for part in names if part)}  {hit.score:.2f}"


def _in_document(place: str) -> str:
    return f", {show_line(place)}" if place else ""


def paths_text(hits: Iterable[Hit]) -> str:
    """Return one line for each hit, as editors and grep's users read them: path, line, column, text of the line."""
    return "".join(f"{show_name(hit.chunk.path)}:{hit.line}:{hit.column}: {_line_of(hit)}\n" for hit in hits)


def _line_of(hit: Hit) -> str:
    """Return the line to look at first, of a long one the part to look at."""
    lines = hit.chunk.text.split("\n", hit.line - hit.chunk.start_line + 1)
    place = hit.line - hit.chunk.start_line
    return _part(hit, lines[place], place, _stripped) if 0 <= place < len(lines) else ""


def _stripped(line: str) -> str:
    return show_line(line.strip())


def _part(hit: Hit, line: str, place: int, show: Callable[[str], str]) -> str:
    """Return a line of a hit; of a long one the part to look at, and how much stands before it."""
    n_before = hit.chunk.column - 1 if place == 0 else 0
    if hit.line == hit.chunk.start_line + place and hit.column - n_before > _MAX_LINE_CHARS:
        start = min(hit.column - n_before - _CHARS_BEFORE_COLUMN, len(line) - _MAX_LINE_CHARS)
        line, n_before = line[start:], n_before + start
    shown = cut_line(show(line.rstrip("\r")), _MAX_LINE_CHARS)
    return f"({n_before:,} characters …){shown}" if n_before else shown


def _excerpt(hit: Hit, style: Style, *, whole: bool) -> list[str]:
    first = hit.chunk.start_line
    lines = hit.chunk.text.split("\n")
    if lines[-1] == "":
        lines.pop()
    shown_places = range(len(lines)) if whole else window(hit, _EXCERPT_LINES)
    start, end = shown_places.start, shown_places.stop
    while end - start > 1 and not lines[end - 1].strip():
        end -= 1
    while end - start > 1 and not lines[start].strip():
        start += 1
    width = len(str(first + end - 1))
    shown = (_part(hit, lines[place], place, show_text) for place in range(start, end))
    marked = hit.line if "matches" in hit.signals else 0  # where an expression matches, that line is the answer
    numbered = enumerate(shown, start=first + start)
    return [f"{'>' if n == marked else ' '} {style.faint(f'{n:>{width}}')}  {line}".rstrip() for n, line in numbered]


def symbols_text(symbols: Iterable[FoundSymbol], style: Style) -> str:
    """Return one line for each symbol: place, kind, qualified name, signature."""
    return "".join(_symbol_line(item, style) for item in symbols)


def _symbol_line(item: FoundSymbol, style: Style) -> str:
    symbol = item.symbol
    place = style.strong(f"{show_name(item.path)}:{symbol.name_line}")
    signature = style.faint(cut_line(show_line(symbol.signature), _MAX_LINE_CHARS))
    mark = style.faint(f"  ({BY_HEAD})") if item.by_head else ""
    line = f"{place}  {show_line(symbol.kind)} {show_name(symbol.qualified_name)}  {signature}".rstrip()
    return f"{line}{mark}\n"


def files_text(files: Iterable[IndexedFile], style: Style, *, whole: bool) -> str:
    """Return one line for each file: its path, and when `whole` its language, lines and size."""
    return "".join(f"{_file_line(file, style) if whole else style.strong(show_name(file.path))}\n" for file in files)


def _file_line(file: IndexedFile, style: Style) -> str:
    lines = "1 line" if file.n_lines == 1 else f"{file.n_lines} lines"
    return f"{style.strong(show_name(file.path))}  {file.language}, {lines}, {size(file.size)}"


def map_notes(outline: ProjectMap) -> list[str]:
    """Return notes on a map: that most likely nothing answers its question, and what is behind it."""
    return list(filter(None, (outline.missing, note_of_map(outline.verdict), _rest_of_map(outline))))


def map_code(outline: ProjectMap) -> int:
    """Return 0 for a map with files, unless it is as good as certain that nothing answers its question: then 1."""
    return 0 if outline.files and not (outline.verdict and outline.verdict.unanswerable) else 1


def _rest_of_map(outline: ProjectMap) -> str:
    if not (outline.n_left_out or outline.n_symbols_left_out):
        return ""
    shown = f"{len(outline.files)} of {outline.n_files} files are shown"
    left = f"{outline.n_left_out} files and {outline.n_symbols_left_out} symbols are left out"
    goes_on = "" if outline.next_offset is None else f", and --offset {outline.next_offset} shows the next ones"
    return f"{shown}; {left}; a higher --max-tokens shows more{goes_on}"


def related_text(result: RelatedResult, style: Style) -> str:
    """Return the edges by kind, in the order of the list, those in tests apart."""
    by_title: dict[str, list[str]] = defaultdict(list)
    for edge in result.edges:
        place = style.strong(f"{show_name(edge.path)}:{edge.line}")
        inside = f" in {show_name(edge.symbol)}" if edge.symbol else ""
        said = "".join(f"  ({remark})" for remark in remarks(edge))
        by_title[title(edge)].append(f"  {place}  {show_name(edge.name)}{inside}{said}")
    return "".join(f"{words}:\n" + "".join(f"{line}\n" for line in lines) for words, lines in by_title.items())


def paths_report_text(report: PathReport, *, whole: bool) -> str:
    """Return the report on named files: those that changed and those that were refused, when `whole` all of them."""
    marked = (
        ("+", report.added),
        ("~", report.changed),
        ("-", report.removed),
        ("=", report.unchanged if whole else ()),
    )
    lines = [f"{mark} {show_name(path)}" for mark, paths in marked for path in paths]
    lines += [f"refused: {show_name(item.path)}: {show_line(item.reason)}" for item in report.refused]
    counts = f"{len(report.added)} added, {len(report.changed)} changed, {len(report.removed)} removed"
    return "\n".join([*lines, f"{counts}, {len(report.unchanged)} unchanged", ""])


def _commits(commits: KnownCommits) -> str:
    left_out = f", {commits.n_left_out:,} are left out" if commits.n_left_out else ""
    return f"{commits.n_known:,} are indexed, {size(commits.n_bytes)}{left_out}"


_NEXT_RUN = "until the next run updates the store, searches use the vectors of the index"


def report_text(report: IndexReport, *, whole: bool) -> str:
    """Return the report of an index run: lists of paths for a dry run or when `whole`, then a summary."""
    lines: list[str] = []
    if report.dry_run or whole:
        for mark, paths in (("+", report.added), ("~", report.changed), ("-", report.removed)):
            shown = paths if whole else paths[:_MAX_LISTED]
            lines += [f"{mark} {show_name(path)}" for path in shown]
            if len(paths) > len(shown):
                lines.append(f"{mark} … and {len(paths) - len(shown)} more (-v lists all)")
    each = [_failed(failure) for failure in report.failures]
    failed = each if whole else _failures(report.failures)
    lines += [f"failed: {line}" for line in failed]
    if failed != each:
        lines.append("failed: … (-v lists all)")
    lines += [f"repaired: the {part} was damaged and was made again" for part in report.repaired]
    if report.lost:
        lines.append(f"lost: {report.lost}")
    lines.append(_summary(report))
    lines += [*_expected(report), *_skipped(report), *_for_model(report)]
    if report.store_change:
        lines.append(f"store: {show_line(report.store_change)}")
    if report.store_problem:
        lines.append(f"not in the store: {show_line(report.store_problem)}; {_NEXT_RUN}")
    lines += [f"error: {show_line(sentence)}" for sentence in report.missing_grammars]
    if report.paused:
        lines.append(f"paused: {show_line(report.paused)}")
    return "".join(line + "\n" for line in lines)


def _failed(failure: Failure) -> str:
    return f"{show_name(failure.path)}: {show_line(failure.reason)}"


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
            lines.append(f"{len(alike)} files, the first is {show_name(alike[0].path)}: {show_line(reason)}")
    n_more = len(lines) - _MAX_LISTED
    return lines if n_more <= 0 else [*lines[:_MAX_LISTED], f"… and {n_more} more"]


def _summary(report: IndexReport) -> str:
    counts = [(len(report.added), "added"), (len(report.changed), "changed"), (len(report.removed), "removed")]
    counts += [(report.n_unchanged + report.n_touched, "unchanged")]
    counts += [(len(report.skipped), "skipped"), (len(report.failures), "failed")]
    counts += [(report.n_by_text, "not embedded, found by words and names")]
    done = ", ".join(f"{n} {word}" for n, word in counts if n) or "nothing to do"
    if report.dry_run:
        return f"would index {size(report.n_bytes)}, about {report.n_chunks} new chunks: {done}"
    return f"{report.n_chunks} chunks in the index after {duration(report.seconds)}: {done}"


def _for_model(report: IndexReport) -> list[str]:
    """Return a line on the files sent to a language model, if there are any."""
    sent = report.for_model
    parts = [f"{_files(sent.n_files)} to parse"] if sent.n_files else []
    parts += [f"the beginnings of {_files(sent.n_purposes)} to describe their purpose"] if sent.n_purposes else []
    verb = "would send to the language model, at most" if report.dry_run else "sent to the language model"
    return [f"{verb}: {' and '.join(parts)}, about {sent.n_tokens} tokens"] if parts else []


def _expected(report: IndexReport) -> list[str]:
    """Return lines on the expected time, size and cost of a dry run."""
    forecast = report.forecast
    if forecast is None:
        return []
    lines = [f"expected: {expected_text(report)}"]
    if forecast.embedding_tokens:
        lines.append(
            f"then the embedding model {show_line(forecast.embedding_model)} reads about "
            f"{forecast.embedding_tokens} tokens; what is in the cache is not sent again"
        )
    if forecast.cost is not None:
        lines.append(f"cost of the tokens sent, at most: about {forecast.cost:.4g}")
    elif forecast.embedding_tokens or report.for_model.n_tokens:
        lines.append("cost: not known; llm.prices sets the prices of models")
    return lines


def expected_text(report: IndexReport) -> str:
    """Return the expected time and size of a dry run."""
    forecast = report.forecast
    return f"about {duration(forecast.seconds)} and {size(forecast.index_bytes)} on the disk" if forecast else ""


def _skipped(report: IndexReport) -> list[str]:
    """Return a line on the reasons for which files would be skipped in a dry run."""
    if not report.dry_run or not report.skipped:
        return []
    reasons = Counter(item.reason for item in report.skipped)
    listed = ", ".join(f"{n} {show_line(reason)}" for reason, n in reasons.most_common())
    return [f"skipped: {listed}; `fathom status --skipped` lists them; more may be skipped for their content"]


def _by_text(n: int) -> str:
    return f"{_files(n)} not embedded, because of index.min_tokens or index.max_tokens; words and names find them"


def _by_head(status: Status) -> str:
    definitions = "1 definition" if status.n_by_head == 1 else f"{status.n_by_head} definitions"
    return f"{definitions} read without syntax in {_files(status.n_files_by_head)}"


def _by_compiler(item: CompilerFiles) -> str:
    edges = f"edges of {_files(item.n_files - item.n_changed)} by {show_line(item.tool)}"
    changed = "1 more has changed since, and its edges" if item.n_changed == 1 else ""
    changed = changed or f"{item.n_changed} more have changed since, and their edges"
    return f"{edges}; {changed} are those of the parser" if item.n_changed else edges


def scip_text(report: ScipReport, *, whole: bool) -> str:
    """Return what was taken of SCIP indexes, and when `whole` the first of what was left out."""
    taken = f"{report.n_uses:,} uses in {_files(report.n_files)} are by {', '.join(map(show_line, report.tools))} now"
    counts = (
        (report.n_other_version, "of another version"),
        (report.n_unknown, "not in the index"),
        (report.n_refused, "outside of the project"),
    )
    left_out = ", ".join(f"{n:,} {why}" for n, why in counts if n)
    lines = [f"left out: {show_name(item.path)}: {show_line(item.reason)}" for item in report.skipped if whole]
    return "\n".join([*lines, f"{taken}; documents left out: {left_out}" if left_out else taken, ""])


def _files(n: int) -> str:
    return "1 file" if n == 1 else f"{n} files"


def secrets_text(places: Iterable[SecretPlace], style: Style) -> str:
    """Return one line for each secret: its place and its kind."""
    return "".join(f"{style.strong(f'{show_name(item.path)}:{item.line}')}  {item.kind}\n" for item in places)


def status_text(status: Status, style: Style, *, skipped: bool) -> str:
    """Return the contents and state of the index; with `skipped`, the skipped files and the reasons."""
    if skipped:
        return "".join(f"{style.strong(show_name(item.path))}  {show_line(item.reason)}\n" for item in status.skipped)
    rows = [
        ("project", show_name(status.root)),
        *([("revision", show_line(status.revision))] if status.revision else []),
        *([("commits", _commits(status.commits))] if status.commits else []),
        ("index", f"{show_name(status.index_dir)} ({size(status.n_bytes)}, generation {status.generation})"),
        ("files", f"{status.n_documents} indexed, {len(status.skipped)} skipped, {len(status.failures)} failed"),
        ("chunks", f"{status.n_chunks} ({status.n_without_vector} without vector)"),
        *([("by text", _by_text(status.n_by_text))] if status.n_by_text else []),
        ("symbols", str(status.n_symbols)),
        *([("by head", _by_head(status))] if status.n_by_head else []),
        ("languages", _counts(status.languages)),
        *(("compiler", _by_compiler(item)) for item in status.compilers),
        *([("encodings", f"{_counts(status.encodings)} (not UTF-8)")] if status.encodings else []),
        ("kinds", _counts(status.kinds)),
        ("model", show_line(status.model)),
        ("up to date", _freshness(status)),
    ]
    rows += [("broken", line) for line in _failures(status.broken)]
    rows += _rules(status)
    rows += [("failed", line) for line in _failures(status.failures)]
    if status.paused:
        rows.append(("paused", show_line(status.paused)))
    if status.store_problem:
        rows.append(("store", f"{show_line(status.store_problem)}; until then, searches use the vectors of the index"))
    rows += [("damaged", show_line(sentence)) for sentence in status.damage]
    return "".join(f"{name:<11} {value}\n" for name, value in rows)


def _rules(status: Status) -> list[tuple[str, str]]:
    """Return a row for each rule that limits the files, and how one ends that an index run was given."""
    rules = [
        ("only", "required_exts", "--required-exts", status.required_exts),
        ("ignored", "ignore", "--ignore", status.ignore),
    ]
    return [
        (label, ", ".join(map(show_line, values)) + _end_of(f"source.{name}" in status.kept, option))
        for label, name, option, values in rules
        if values
    ]


def _end_of(is_kept: bool, option: str) -> str:
    return f"  (given to an earlier `fathom index`; `fathom index {option} ''` ends this)" if is_kept else ""


def _freshness(status: Status) -> str:
    if status.doubt:
        return f"not known: {show_line(status.doubt)}; `fathom index` does that, and so does the first search"
    if not status.generation and not status.pending:
        return "nothing is indexed: no file here can be"
    if not status.generation:
        return "no index yet; the first search makes it"
    if status.incomplete:
        return f"no: the first run is not complete, {status.incomplete}; `fathom index` completes it"
    problems = [f"{status.pending} files changed since"] if status.pending else []
    if not status.views_current:
        problems.append("the search views are older than the catalogue and will be rebuilt")
    problems += map(show_line, status.damage)
    return f"no: {'; '.join(problems)}" if status.damage else "; ".join(problems) or "yes"


def _counts(counts: Mapping[str, int]) -> str:
    ordered = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return ", ".join(f"{name} {n}" for name, n in ordered) or "none"


def checks_text(checks: Iterable[Check], style: Style) -> str:
    """Return one line for each check, and a hint for each that failed."""
    listed = list(checks)
    width = max((len(check.name) for check in listed if len(check.name) <= _MAX_CHECK_NAME), default=0)
    return "".join(_check_lines(check, width, style) for check in listed)


def _check_lines(check: Check, width: int, style: Style) -> str:
    mark = "ok  " if check.ok else style.alarm("FAIL")
    hint = f"      {show_line(check.hint)}\n" if check.hint and not check.ok else ""
    return f"{mark}  {show_line(check.name):<{width}} {show_line(check.detail)}\n{hint}"


def setting_line(key: str, value: object, origin: str, style: Style, explanation: str) -> str:
    """Return one setting as a line of a settings file, with the origin of its value."""
    above = style.faint(f"# {explanation}") + "\n" if explanation else ""
    return f"{above}{key} = {as_toml(value)}  {style.faint(f'# {show_line(origin)}')}\n"


def as_toml(value: object) -> str:
    """Return a value as it is written in a settings file."""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(as_toml(part) for part in value)}]"
    if isinstance(value, str):
        return f'"{escape_toml(value)}"'
    return str(value)
