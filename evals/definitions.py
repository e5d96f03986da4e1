"""Our definitions beside those of Universal Ctags, language by language: functions, methods and types.

    python -m evals.definitions --repositories FOLDER [--page docs/benchmarks-agents.md] [--missing FILE] [--sample]

FOLDER holds the trees that evals/definitions.tsv names, by the last part of their names, at the revisions there (with
"-" the trees of the development benchmark). A definition of ctags counts as known if `fathom symbols` has one of its
name on its line or one line beside it, or one that spans it where several clauses make one function. A name that does
not stand near its line is not counted.

Of each repository a part of the files is read.

ctags errs, too. So the share alone says little: of what is missing, the first MOST_JUDGED of each language and part in
the order of a hash were looked at in the text, and evals/definitions_judged.tsv says what each of them is. The estimate
takes the share of definitions in the sample for the share of definitions in all that is missing.
"""

from __future__ import annotations

import argparse
import csv
import json
import re
import subprocess
import sys
from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from functools import lru_cache
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import NamedTuple, TypeAlias

from codefathom.parse import parse
from codefathom.source.documents import read
from codefathom.source.scan import scan
from codefathom.types import Document, Symbol
from evals.edges import indexed
from evals.report import table, write_section

MOST_JUDGED = 25  # missing definitions of one language and part that are looked at
DEFINITION = "definition"  # the judgement of what a person would call one; any other is a kind of error of ctags
_SEED = "2026"
_NEAR = 1  # lines between the name of a symbol and the line that ctags gives
_FILES_AT_ONCE = 500
HERE = Path(__file__).parent
MANIFEST, JUDGED = HERE / "definitions.tsv", HERE / "definitions_judged.tsv"


class Kinds(NamedTuple):
    """What ctags calls a language, and the letters of its kinds that are functions, methods or types."""

    name: str
    letters: str
    languages: tuple[str, ...]  # what we call it
    by_span: bool = False  # several clauses are one symbol, or ctags gives the line of a brace below the name
    most_files: int = 80  # of each repository, the first ones by a hash of their paths


LANGUAGES: Mapping[str, Kinds] = {
    "bash": Kinds("Sh", "f", ("bash",)),
    "c": Kinds("C", "fsugt", ("c",)),
    "clojure": Kinds("Clojure", "f", ("clojure",)),
    "cpp": Kinds("C++", "fcsugt", ("cpp",)),
    "csharp": Kinds("C#", "csigmt", ("csharp",)),
    "elixir": Kinds("Elixir", "fampdg", ("elixir",), by_span=True),
    "emacs_lisp": Kinds("EmacsLisp", "fmis", ("emacs_lisp",)),
    "erlang": Kinds("Erlang", "frt", ("erlang",), by_span=True),
    "fortran": Kinds("Fortran", "fst", ("fortran",)),
    "go": Kinds("Go", "fistna", ("go",)),
    "haskell": Kinds("Haskell", "ft", ("haskell",), by_span=True),
    "java": Kinds("Java", "cigma", ("java",)),
    "javascript": Kinds("JavaScript", "cfmgGS", ("javascript",)),
    "julia": Kinds("Julia", "fmst", ("julia",)),
    "kotlin": Kinds("Kotlin", "ciomT", ("kotlin",), most_files=20),
    "lua": Kinds("Lua", "f", ("lua",)),
    "objc": Kinds("ObjectiveC", "iIPfmcset", ("objc",), by_span=True),
    "ocaml": Kinds("OCaml", "ftmcM", ("ocaml",)),
    "perl": Kinds("Perl", "sp", ("perl",)),
    "php": Kinds("PHP", "citf", ("php",)),
    "powershell": Kinds("PowerShell", "f", ("powershell",)),
    "python": Kinds("Python", "cfm", ("python",)),
    "r": Kinds("R", "f", ("r",)),
    "ruby": Kinds("Ruby", "cmfS", ("ruby",)),
    "rust": Kinds("Rust", "fsgitPM", ("rust",)),
    "tcl": Kinds("Tcl", "p", ("tcl",)),
    "typescript": Kinds("TypeScript", "cigfGma", ("typescript", "tsx")),
    "vim": Kinds("Vim", "f", ("vim",)),
}


class Repository(NamedTuple):
    """A tree, and the language of which its definitions are compared."""

    language: str
    name: str  # owner/name
    revision: str
    is_apart: bool  # nothing was mended by what is missing in it

    @property
    def folder(self) -> str:
        """Return the name of its folder."""
        return self.name.rpartition("/")[2]


class Tag(NamedTuple):
    """A definition of ctags."""

    path: str
    line: int
    kind: str
    name: str


class Missing(NamedTuple):
    """A definition of ctags that is no symbol."""

    language: str
    repository: str
    is_apart: bool
    tag: Tag

    @property
    def key(self) -> tuple[str, str, int, str]:
        """Return what tells it from others."""
        return self.repository, self.tag.path, self.tag.line, self.tag.name


class Compared(NamedTuple):
    """The definitions of one repository."""

    repository: Repository
    n_tags: int
    missing: tuple[Missing, ...]


def main() -> int:
    """Compare the repositories of a folder, and print a table or write it into a page."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repositories", type=Path, required=True, help="folder of the trees of definitions.tsv")
    parser.add_argument("--languages", default="", help="only these, separated by commas")
    parser.add_argument("--parse", action="store_true", help="parse alone, without an index: in a third of the time")
    parser.add_argument("--missing", type=Path, help="file for all that is missing")
    parser.add_argument("--sample", action="store_true", help="print what is still to be looked at")
    parser.add_argument("--page", default="", help="page to write into")
    options = parser.parse_args()
    repositories = [one for one in manifest() if not options.languages or one.language in options.languages.split(",")]
    compared = []
    for repository in repositories:
        root = (options.repositories / repository.folder).resolve()
        if root.is_dir():
            kinds = LANGUAGES[repository.language]
            outlines = parsed(root, kinds.languages) if options.parse else listed(root, kinds.languages)
            compared.append(comparison(repository, root, dict(islice(outlines, kinds.most_files))))
            print(repository.name, compared[-1].n_tags, len(compared[-1].missing), file=sys.stderr)
    verdicts = judged()
    if options.missing:
        options.missing.write_text("".join(f"{_line(item)}\n" for one in compared for item in one.missing))
    if options.sample:
        print(*(_line(item) for item in sampled(compared) if item.key not in verdicts), sep="\n")
    text = report(compared, verdicts)
    print(text)
    if options.page:
        write_section(Path(options.page), "make bench-graph: definitions", text)
    return 0


def manifest() -> list[Repository]:
    """Return the repositories that are compared, in order."""
    return [Repository(row[0], row[1], row[2], row[3] == "apart") for row in _rows(MANIFEST)]


def judged() -> dict[tuple[str, str, int, str], str]:
    """Return what was seen in the text for definitions of ctags that are missing."""
    return {(row[0], row[1], int(row[2]), row[3]): row[4] for row in _rows(JUDGED)}


def _rows(path: Path) -> list[list[str]]:
    with path.open(encoding="utf-8", newline="") as lines:
        return [row for row in csv.reader(lines, "excel-tab", quoting=csv.QUOTE_NONE) if row]


Outlines: TypeAlias = Iterator[tuple[str, Sequence[Symbol]]]  # path and symbols of each file, by a hash of the path


def listed(root: Path, languages: Collection[str]) -> Outlines:
    """Index a tree, and yield what the catalogue lists of the files in some languages."""
    with indexed(root) as engine:
        paths = [file.path for file in engine.files.listed() if file.language in languages]
        for path in sorted(paths, key=_hash):
            yield path, [item.symbol for item in engine.files.outline(path)]


def parsed(root: Path, languages: Collection[str]) -> Outlines:
    """Yield the same as `listed`, without chunks, vectors and a catalogue: in a third of the time."""
    for file in sorted(scan(str(root)).files, key=lambda file: _hash(file.path)):
        document = read(str(root), file)
        if isinstance(document, Document) and document.language in languages:
            yield document.path, parse(document).symbols


def _hash(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogateescape")).digest()


def comparison(repository: Repository, root: Path, symbols: Mapping[str, Sequence[Symbol]]) -> Compared:
    """Return the definitions of ctags in these files that are not among their symbols."""
    kinds = LANGUAGES[repository.language]
    found = list(tags(root, sorted(symbols), kinds))
    lost = (tag for tag in found if not is_known(tag, symbols[tag.path], kinds.by_span))
    missing = (Missing(repository.language, repository.name, repository.is_apart, tag) for tag in lost)
    return Compared(repository, len(found), tuple(missing))


def tags(root: Path, paths: Sequence[str], kinds: Kinds) -> Iterator[Tag]:
    """Yield the definitions that ctags finds in these files."""
    command = ["ctags", "--quiet", "--options=NONE", "--output-format=json", "--fields=+nK", "--extras=-F{anonymous}"]
    command += [f"--languages={kinds.name}", f"--language-force={kinds.name}", f"--kinds-{kinds.name}={kinds.letters}"]
    for start in range(0, len(paths), _FILES_AT_ONCE):
        names = "\n".join(paths[start : start + _FILES_AT_ONCE])
        run = subprocess.run([*command, "-f", "-", "-L", "-"], input=names.encode(), cwd=root, stdout=-1, check=True)
        for line in run.stdout.decode("utf-8", "replace").splitlines():
            row = json.loads(line)
            tag = Tag(row["path"], row["line"], row["kind"], row["name"])
            if stands_there(tag, _lines_of(root / tag.path)):
                yield tag


@lru_cache(maxsize=8)
def _lines_of(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8", errors="replace").split("\n")


def stands_there(tag: Tag, lines: Sequence[str]) -> bool:
    """Say whether the name that ctags gives stands near its line: for Kotlin it prints what its memory holds."""
    return any(plain(tag.name) in line for line in lines[max(tag.line - 1 - _NEAR, 0) : tag.line + _NEAR])


def is_known(tag: Tag, symbols: Iterable[Symbol], by_span: bool) -> bool:
    """Say whether there is a symbol of this name at this place."""
    name = plain(tag.name)
    for symbol in symbols:
        if plain(symbol.name) == name:
            end = symbol.end_line if by_span else symbol.name_line
            if symbol.start_line - _NEAR <= tag.line <= end + _NEAR:
                return True
    return False


def plain(name: str) -> str:
    """Return the last part of a name, without types and marks: ctags and we write owners and parameters differently."""
    bare = re.sub(r"\{.*\}$|(?<=\w)<.*>$|^(\w+):(?:\w*:)*$", r"\1", name.strip("`\"'$@ "))
    return re.split(r"::|[.:#]|/(?=\d+$)", bare)[-1].strip("`\"'") or bare


def sampled(compared: Iterable[Compared]) -> list[Missing]:
    """Return what is looked at, of each language and part; nothing that is mended changes the place of the others."""
    groups: dict[tuple[str, bool], list[Missing]] = defaultdict(list)
    for one in compared:
        for item in one.missing:
            groups[item.language, item.is_apart].append(item)
    return [item for _, items in sorted(groups.items()) for item in sorted(items, key=_place)[:MOST_JUDGED]]


def _place(item: Missing) -> bytes:
    return _hash(repr((_SEED, *item.key)))


def _line(item: Missing) -> str:
    tag = item.tag
    return "\t".join((item.repository, tag.path, str(tag.line), tag.name, tag.kind, item.language))


HEAD = (
    *("language", "part", "repositories", "ctags", "raw share", "missing", "looked at", "definitions among them"),
    *("estimated share", "what else ctags named"),
)


def report(compared: Sequence[Compared], verdicts: Mapping[tuple[str, str, int, str], str]) -> str:
    """Return the table: one row for each language and part."""
    sample = sampled(compared)
    rows = []
    for language in sorted({one.repository.language for one in compared}):
        for is_apart in (False, True):
            group = [one for one in compared if one.repository[0::3] == (language, is_apart)]
            if group:
                of_sample = [item for item in sample if (item.language, item.is_apart) == (language, is_apart)]
                seen = [verdicts[item.key] for item in of_sample if item.key in verdicts]
                rows.append((language, "apart" if is_apart else "open", *_figures(group, seen)))
    return table(HEAD, rows)


def _figures(group: Sequence[Compared], seen: Sequence[str]) -> tuple[str, ...]:
    n_tags = sum(one.n_tags for one in group)
    n_missing = sum(len(one.missing) for one in group)
    n_known, n_real = n_tags - n_missing, seen.count(DEFINITION)
    errors = Counter(verdict for verdict in seen if verdict != DEFINITION)
    share = "–"
    if seen or not n_missing:
        n_lost = n_missing * n_real / max(len(seen), 1)
        share = f"{100 * n_known / max(n_known + n_lost, 1):.2f}"
    told = ", ".join(f"{kind} {n}" for kind, n in errors.most_common()) or "–"
    raw = f"{100 * n_known / max(n_tags, 1):.2f}"
    return str(len(group)), f"{n_tags:,}", raw, str(n_missing), str(len(seen)), str(n_real), share, told


if __name__ == "__main__":
    sys.exit(main())
