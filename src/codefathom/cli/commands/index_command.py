"""`fathom index` in its forms: once, as a dry run, watching the files, interactive, and the removal of the index."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from contextlib import suppress

from codefathom.cli.display.output import complain
from codefathom.cli.display.render import expected_text, paths_report_text, report_text, scip_text
from codefathom.cli.extra_documents import text_of_stdin
from codefathom.cli.face import Face
from codefathom.cli.filter_arguments import path_typed
from codefathom.cli.options import IndexOptions
from codefathom.engine import Engine
from codefathom.errors import FathomError, SourceError, UsageError
from codefathom.project.stores.revision_indexes import RevisionIndex
from codefathom.shapes import plain_shape, to_json
from codefathom.source.scip import check_scip
from codefathom.system.interruption import INTERRUPTION
from codefathom.system.real_paths import NOT_THROUGH_LINKS
from codefathom.text.printable import show_line, show_name, size
from codefathom.types import IndexReport

_IGNORE_FILE = ".fathomignore"
_REPLIES = {"y": True, "yes": True, "n": False, "no": False}


def run(options: IndexOptions, face: Face) -> int:
    """Index, and print a report. Return 2 if the run paused because too much failed, or a grammar is missing."""
    revision = face.leave_revision() if options.remove else ""
    with face.open(tells_extent=True) as engine:
        if options.remove:
            return _remove(engine, face, revision)
        is_of_compilers = options.scip or options.remove_scip
        if is_of_compilers or options.only or options.text or options.remove_text:
            return (_compilers if is_of_compilers else _update)(options, engine, face)
        if options.dry_run:
            return _say(engine.plan(), face)
        if options.interactive and not _agreed(engine, face):
            face.note("nothing was indexed")
            return 0
        if not options.watch:
            report = engine.index(full=options.full, keep_rules=True)
            if options.full or report.added or report.changed or report.removed:
                with suppress(FathomError):  # the index is whole; who asks for connections is told what is wrong
                    engine.link_files()
            return _say(report, face)
        if options.full:
            engine.index(full=True)
        for report in engine.watch(INTERRUPTION.has_come, read_settings=face.settings):
            _say(report, face)
    return 0


def _update(options: IndexOptions, engine: Engine, face: Face) -> int:
    """Take in the changes of some files, folders and texts. Return 1 if one of the names is refused."""
    named = "--only" if options.only else "--text" if options.text else "--remove-text"
    if options.full or options.dry_run or options.watch or options.interactive:
        raise UsageError(
            f"{named} cannot be used with --full, --dry-run, --watch or --interactive",
            hint=f"remove one of them: {named} makes only one short run",
        )
    texts: dict[str, str | None] = dict.fromkeys(options.remove_text)
    if options.text:
        texts[options.text] = text_of_stdin(face)
    report = engine.update([path_typed(path, engine.root) for path in options.only], texts=texts)
    face.note_indexing()
    face.write(
        to_json(plain_shape(report)) if face.common.json else paths_report_text(report, whole=face.common.verbose)
    )
    return 1 if report.refused else 0


def _compilers(options: IndexOptions, engine: Engine, face: Face) -> int:
    """Index, and take the edges of files from SCIP indexes; or remove such edges. Return 1 if there are none."""
    others = {
        "--dry-run": options.dry_run,
        "--watch": options.watch,
        "--interactive": options.interactive,
        "--only": options.only,
        "--text": options.text,
        "--remove-text": options.remove_text,
        "--remove-scip": options.scip and options.remove_scip,
    }
    if refused := [name for name, value in others.items() if value]:
        named = "--scip" if options.scip else "--remove-scip"
        raise UsageError(f"{named} cannot be used with {refused[0]}", hint="remove one of them")
    if options.remove_scip:
        return _remove_scip(engine, face)
    check_scip(options.scip)
    report = engine.index(full=options.full, keep_rules=True)
    taken = engine.import_scip(options.scip, refresh=False)
    if face.common.json:
        face.write(to_json({**plain_shape(report), "scip": plain_shape(taken)}))
        return 0 if report.is_complete else 2
    code = _say(report, face)
    if not face.common.quiet:
        face.write(scip_text(taken, whole=face.common.verbose))
    return code


def _remove_scip(engine: Engine, face: Face) -> int:
    n_files = engine.remove_scip()
    if face.common.json:
        face.write(to_json({"n_files": n_files}))
    else:
        face.note(f"removed the edges of compilers, which {n_files} files had")
    return 0 if n_files else 1


def _remove(engine: Engine, face: Face, revision: str) -> int:
    """Remove the index, or that of a revision. Return 1 if there is none."""
    n_bytes = engine.remove_revision(revision) if revision else engine.remove_index()
    what = f"of the revision {revision!r}" if revision else f"in {show_name(engine.index_dir)}"
    if face.common.json:
        place = {"revision": revision} if revision else {"index_dir": engine.index_dir}
        face.write(to_json({**place, "n_bytes_removed": n_bytes}))
    elif n_bytes:
        face.note(f"removed the index {what} ({size(n_bytes)})")
    if not n_bytes:
        face.note(f"there is no index {what}")
    return 0 if n_bytes else 1


def revision_line(index: RevisionIndex) -> str:
    """Return a line about the index of a revision, as `fathom status` shows it."""
    used = time.strftime("%Y-%m-%d %H:%M", time.localtime(index.used_at))
    return f"at revision {show_line(index.revision)} has an index ({size(index.n_bytes)}, used {used})\n"


def _say(report: IndexReport, face: Face) -> int:
    if face.common.json:
        face.write(to_json(plain_shape(report)))
    elif not face.common.quiet or report.dry_run:
        face.write(report_text(report, whole=face.common.verbose))
    elif reasons := _problems(report):
        complain("; ".join(reasons))
    face.flush()
    return 0 if report.is_complete else 2


def _problems(report: IndexReport) -> list[str]:
    paused = f"paused: {report.paused}" if report.paused else ""
    return [text for text in (paused, report.store_problem, *report.missing_grammars) if text]


def _agreed(engine: Engine, face: Face) -> bool:
    """Show the plan, ask for ignore patterns until there are no more, then ask for consent to index."""
    if not engine.folder:
        raise UsageError("--interactive cannot be used with --rev", hint="run `fathom index --rev` without it")
    if not sys.stdin.isatty():
        raise UsageError("--interactive needs a terminal", hint="run `fathom index --dry-run`, then `fathom index`")
    while True:
        report = engine.plan()
        face.write(report_text(report, whole=face.common.verbose))
        reply = face.answer(f"patterns to ignore, which are added to {_IGNORE_FILE} (Enter for none, n to stop): ")
        patterns = reply.split()
        if reply.strip().lower() in _REPLIES:  # a file of such a name is rarer than a person who answers yes or no
            return _REPLIES[reply.strip().lower()]
        if not patterns:
            consent = face.answer(f"go on? It takes {expected_text(report)}. [Y/n] ").strip().lower()
            return _REPLIES.get(consent, not consent)
        _add_patterns(engine.root, patterns)


def _add_patterns(root: str, patterns: Iterable[str]) -> None:
    """Write patterns into the ignore file of a project, which may have come with it as a link. Raises SourceError."""
    path = os.path.join(root, _IGNORE_FILE)
    try:
        with open(path, "a", encoding="utf-8", opener=_open_no_link) as file:
            file.writelines(f"{pattern}\n" for pattern in patterns)
    except OSError as error:
        raise SourceError(
            f"cannot write {path!r}: {error.strerror}",
            hint="if it is a link, remove it; otherwise check its permissions",
        ) from error


def _open_no_link(path: str, flags: int) -> int:
    return os.open(path, flags | NOT_THROUGH_LINKS, 0o666)
