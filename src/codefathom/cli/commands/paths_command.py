"""`fathom search --in`: one question to files and folders, whatever projects they belong to."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from codefathom.cli.commands.projects_command import doubts_of_several, reasons
from codefathom.cli.display.render import paths_text, search_text
from codefathom.cli.face import Face
from codefathom.cli.filter_arguments import where
from codefathom.cli.options import SearchOptions
from codefathom.errors import UsageError
from codefathom.search.ranking.confidence import MAX_WEAK, weak_note
from codefathom.several.path_search import PathSearch, PathSearchResult
from codefathom.shapes import federated_shape, to_json
from codefathom.types import Hit

_MOST_NAMED = 5  # of what was left out


def search_paths(options: SearchOptions, face: Face, explain: Callable[[Hit], Iterable[str]]) -> int:
    """Print the best places, each with its absolute path. Return 1 without hits."""
    _refuse_other_choices(options, face)
    with PathSearch.open(options.paths, settings_of=face.settings_of, on_wait=face.note) as paths:
        result = paths.search(options.query, where=where(options, ""), min_score=options.min_score)
    best = max(result.results.values(), key=lambda one: one.confidence)
    is_weak = all(one.weak for one in result.results.values())
    face.notes([*doubts_of_several(result.results, result.failed), *_left_out(result)])
    if is_weak:
        face.note(weak_note(best.confidence))
    if face.common.json:
        face.write(to_json(_shape(options.query, result, whole=face.common.verbose)))
    else:
        hits = tuple(result.in_place(item) for item in result.hits)
        shown = replace(best, hits=hits[:MAX_WEAK] if is_weak and not options.anyway else hits)
        face.write(
            paths_text(shown.hits)
            if options.format == "path"
            else search_text(shown, face.style, whole=face.common.verbose, explain=explain)
        )
    if not result.hits:
        face.note(f"nothing found for {options.query!r}")
    return 0 if result.hits else 1


def _refuse_other_choices(options: SearchOptions, face: Face) -> None:
    """Raise UsageError where the command says in another way, too, what is searched."""
    others = {
        "--project": options.project,
        "--all": options.all,
        "--file": options.file,
        "--rev": face.common.rev,
        "--source-dir": face.common.source_dir,
    }
    for name, value in others.items():
        if value:
            raise UsageError(f"--in cannot be used with {name}", hint="--in alone says where to search")


def _left_out(result: PathSearchResult) -> list[str]:
    notes = [f"{item.path}: {item.reason}" for item in result.left_out[:_MOST_NAMED]]
    n_more = len(result.left_out) - len(notes)
    return [*notes, f"{n_more} more places were left out; --json lists them"] if n_more else notes


def _shape(query: str, result: PathSearchResult, *, whole: bool) -> dict[str, object]:
    shape = federated_shape(query, result.hits, result.results, reasons(result.failed), whole=whole)
    left_out = [{"path": item.path, "reason": item.reason} for item in result.left_out]
    return {**shape, "roots": dict(result.roots), "left_out": left_out}
