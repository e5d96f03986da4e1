"""How many secrets are found, and what is taken for one: `python -m evals.secrets`.

The set is made from seeds; none of it is a real key. `--page docs/benchmarks-secrets.md` writes the page, `--growth`
looks for texts that take long.
"""

from __future__ import annotations

import argparse
import random
import re
import sys
import sysconfig
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from codefathom.source.secrets import find, mask
from evals.report import machine, table
from evals.secret_growth import growth
from evals.secret_kinds import FORMATS, NAMES, Instance, Kind, fill, fixed
from evals.secret_late import (
    LATE_FORMATS,
    LATE_NAMES,
    LATE_PLACES,
    LATE_SURROUNDINGS,
    SECOND_FORMATS,
    SECOND_NAMES,
    SECOND_SURROUNDINGS,
    THIRD_FORMATS,
)
from evals.secret_places import PLACES
from evals.secret_surroundings import SURROUNDINGS, Surrounding
from evals.text import text_files

KINDS: tuple[Kind, ...] = (*FORMATS, *PLACES, *NAMES)
LATE: tuple[Kind, ...] = (*LATE_FORMATS, *LATE_PLACES, *LATE_NAMES)
SECOND: tuple[Kind, ...] = (*SECOND_FORMATS, *SECOND_NAMES)
THIRD: tuple[Kind, ...] = THIRD_FORMATS
SEED = 12
N_INSTANCES = 3  # of each kind in each surrounding
_MAX_KNOWN = 5  # signs of a value that may be seen: a prefix such as "ghp_" tells nothing
_MARKED = re.compile(r"⟦([^⟧]+)⟧")


@dataclass(frozen=True, slots=True)
class Outcome:
    """One text and whether all its secrets were found."""

    kind: Kind
    surrounding: Surrounding | None
    instance: Instance
    found: bool


def instances(
    kind: Kind, seed: int = SEED, n: int = N_INSTANCES, surroundings: Sequence[Surrounding] = SURROUNDINGS
) -> Iterator[tuple[Surrounding | None, Instance]]:
    """Yield texts with secrets of one kind, in every surrounding that fits it."""
    rng = random.Random(f"{seed} {kind.name}")
    for path, form in kind.places:
        for _ in range(n):
            yield None, _of_place(path, form, rng)
    for surrounding in surroundings if kind.form else ():
        if surrounding.is_named or kind.kind == "format":
            for index in range(n):
                yield surrounding, _surrounded(kind, surrounding, kind.names[index % len(kind.names)], rng)


def _surrounded(kind: Kind, surrounding: Surrounding, name: str, rng: random.Random) -> Instance:
    value = fill(kind.form, rng)
    known = surrounding.text.format(name=name, value="\n") + fixed(kind.form)
    return Instance(surrounding.path, surrounding.text.format(name=name, value=value), (secret_part(value),), known)


def _of_place(path: str, form: str, rng: random.Random) -> Instance:
    values: list[str] = []
    pieces: list[str] = []
    for index, piece in enumerate(_MARKED.split(form)):
        pieces.append(fill(piece, rng))
        if index % 2:
            values += [line.strip() for line in re.split(r"\n|\\n", pieces[-1])]
    return Instance(path, "".join(pieces), tuple(values), "".join(pieces[::2]) + fixed(form))


# What of an address or a connection string must not be seen.
_PARTS = (
    re.compile(r"://[^/:@]*:([^/@]+)@"),
    re.compile(r"(?:AccountKey|SharedAccessKey|access_token|key|sig)=([^;&]+)"),
    re.compile(r"/bot(\d+:[\w-]+)/"),
    re.compile(r"hooks\.slack\.com/services/\w+/\w+/(\w+)"),
    re.compile(r"/(?:webhooks/\d+|hook|IncomingWebhook)/([\w-]+)"),
)


def secret_part(value: str) -> str:
    """Return the secret in a value, such as the password of an address."""
    for part in _PARTS if "://" in value or ";" in value else ():
        if match := part.search(value):
            return match[1]
    return value


def is_hidden(masked: str, values: Iterable[str], known: str = "") -> bool:
    """Whether no longer piece of any value can be seen, but for what stands in `known`, such as a prefix."""
    size = _MAX_KNOWN + 1
    pieces = {
        value[start : start + size] for value in values for start in range(max(len(value) - size, 0) + 1) if value
    }
    return not any(piece in masked and piece not in known for piece in pieces)


def outcomes(
    kinds: Iterable[Kind] = KINDS,
    seed: int = SEED,
    n: int = N_INSTANCES,
    surroundings: Sequence[Surrounding] = SURROUNDINGS,
) -> Iterator[Outcome]:
    """Mask every text and say whether its secrets are gone."""
    for kind in kinds:
        for surrounding, instance in instances(kind, seed, n, surroundings):
            masked = mask(instance.text, instance.path).text
            found = is_hidden(masked, instance.values, instance.known)
            yield Outcome(kind, surrounding, instance, found)


# What is printed ------------------------------------------------------------------------------------------------------

_CLASSES = {
    "format": "has a form of its own",
    "place": "recognised by its place",
    "name": "recognised by its name only",
}
_OF_FORM = tuple(kind for kind in (*KINDS, *LATE) if kind.form)
PARTS: tuple[tuple[str, Sequence[Kind], Sequence[Surrounding]], ...] = (
    ("used to write the rules", KINDS, SURROUNDINGS),
    ("held out first: kinds", LATE, SURROUNDINGS),
    ("held out first: surroundings", tuple(kind for kind in KINDS if kind.form), LATE_SURROUNDINGS),
    ("held out second: kinds", SECOND, SURROUNDINGS),
    ("held out second: surroundings", _OF_FORM, SECOND_SURROUNDINGS),
    ("held out until the end: kinds", THIRD, SURROUNDINGS),
)


def recall(found: Iterable[Outcome]) -> dict[Kind, float]:
    """Return the share of texts of each kind whose secrets were found."""
    by_kind: dict[Kind, list[bool]] = defaultdict(list)
    for outcome in found:
        by_kind[outcome.kind].append(outcome.found)
    return {kind: sum(values) / len(values) for kind, values in by_kind.items()}


def recall_rows() -> Iterator[list[str]]:
    """Yield (part, class, kinds, texts, recall, kinds of which at least 95 % are found)."""
    for title, kinds, surroundings in PARTS:
        measured = list(outcomes(kinds, surroundings=surroundings))
        for name, words in _CLASSES.items():
            of_class = [item for item in measured if item.kind.kind == name]
            by_kind = recall(of_class)
            if by_kind:
                share = sum(by_kind.values()) / len(by_kind)
                n_good = sum(value >= 0.95 for value in by_kind.values())
                yield [title, words, str(len(by_kind)), str(len(of_class)), f"{100 * share:.1f} %", str(n_good)]


def weak_rows() -> Iterator[list[str]]:
    """Yield the kinds of which less than 95 % are found, in all parts together."""
    everything = [item for _, kinds, around in PARTS for item in outcomes(kinds, surroundings=around)]
    for kind, value in sorted(recall(everything).items(), key=lambda pair: pair[1]):
        if value < 0.95:
            yield [kind.name, _CLASSES[kind.kind], "yes" if kind.late else "no", f"{100 * value:.0f} %"]


@dataclass(frozen=True, slots=True)
class Tree:
    """What was masked in ordinary files."""

    title: str
    n_files: int
    n_lines: int
    n_bytes: int
    seconds: float
    lines: tuple[str, ...]  # path:line, kind, beginning of the line


def masked_lines(title: str, root: Path, endings: tuple[str, ...], without: tuple[str, ...] = ()) -> Tree:
    """Look through all files below a folder."""
    n_files = n_lines = n_bytes = 0
    seconds = 0.0
    lines: dict[str, None] = {}
    for path, text in text_files(root):
        if not path.endswith(endings) or any(f"/{name}/" in f"/{path}" for name in without):
            continue
        started = time.process_time()
        spans = find(text, path)
        seconds += time.process_time() - started
        n_files, n_lines, n_bytes = n_files + 1, n_lines + text.count("\n"), n_bytes + len(text)
        for span in spans:
            number = text.count("\n", 0, span.start)
            lines[f"{path}:{number + 1} {span.kind}: {text.split(chr(10))[number].strip()[:100]}"] = None
    return Tree(title, n_files, n_lines, n_bytes, seconds, tuple(lines))


_CODE = (".js", ".mjs", ".cjs", ".ts", ".tsx", ".go", ".java", ".rb", ".php", ".rs", ".c", ".h", ".sh", ".pl", ".md")


def trees() -> Iterator[Tree]:
    """Yield what is masked in the standard library and in what is installed here."""
    paths = sysconfig.get_paths()
    yield masked_lines("Python's standard library", Path(paths["stdlib"]), (".py",), ("site-packages",))
    yield masked_lines("installed Python packages", Path(paths["purelib"]), (".py", ".pyi"))
    node = Path(__file__).parents[1] / "web" / "node_modules"
    if node.is_dir():
        yield masked_lines("JavaScript packages of the page", node.resolve(), _CODE)


# Measured on the held-out parts before anything was changed for them.
FIRST = (
    ("first: kinds", "has a form of its own", "33", "30.0 %"),
    ("first: kinds", "recognised by its place", "26", "63.5 %"),
    ("first: kinds", "recognised by its name only", "14", "88.4 %"),
    ("first: surroundings", "has a form of its own", "135", "99.8 %"),
    ("first: surroundings", "recognised by its name only", "58", "76.3 %"),
    ("second: kinds", "has a form of its own", "12", "55.6 %"),
    ("second: kinds", "recognised by its name only", "6", "100.0 %"),
    ("second: surroundings", "has a form of its own", "168", "98.1 %"),
    ("second: surroundings", "recognised by its name only", "72", "90.2 %"),
)
HEAD = """\
# Which secrets are found

<!-- Written by `python -m evals.secrets --page docs/benchmarks-secrets.md`. -->

Codefathom masks the values of secrets before it indexes a text, and before it sends a text to a remote model. This page
shows how many secrets it finds, and which values it masks that are not secrets. The test set contains no real secret:
`evals/secret_kinds.py`, `secret_places.py` and `secret_surroundings.py` generate it from fixed random seeds, as the
providers describe their keys. `secret_late.py` was written after the rules; its texts are called "held out". A secret
counts as found if the masked text shows no six consecutive characters of it. Machine: {machine}.
"""
CANNOT = """\
## What cannot be found

- A password made of words (`correct horse battery staple`), a recovery phrase of twelve words, or a PIN. In prose, in
  code, or after a name such as `x`, they look like any other text. Behind a name such as `PASSWORD` or `client_secret`
  a value that is written out is found, whatever it looks like, unless it is a placeholder (`changeme`, `secret`), a
  type or rule (`string`, `required`), or several words with blanks behind a name that is not a constant.
- A random value that has no form of its own, after a name that does not say what it is (`x = "…"`, an argument, a cell
  of a table). Most such values are hashes, identifiers or checksums.
- A value that is not written in one piece: it is joined at run time, reversed, encrypted, or encoded a second time in
  base64. Strings that continue on the next line are joined before the search, so these are found.
- Values in images, archives and other files that are not text. Codefathom does not index such files.
- The key of a provider that Codefathom has no rule for, if the key does not have the common form (a short prefix, then
  upper-case and lower-case letters with digits) and no name beside it says that it is a key.
- A value that only another file identifies as a secret.
"""


def page() -> str:
    """Measure all and return the page."""
    looked_at = list(trees())
    parts = [
        HEAD.format(machine=machine()),
        "## Recall",
        table(("part", "class", "kinds", "texts", "found", "kinds with 95 % or more"), recall_rows()),
        "Each held-out part was measured before rules were added for what it had shown. That first measurement gave:",
        table(("held out", "class", "kinds", "found in the first measurement"), map(list, FIRST)),
        "### Kinds of which less than 95 % are found now",
        table(("kind", "class", "held out", "found"), weak_rows()),
        "## What is masked in ordinary code, although it is no secret",
        table(
            ("files", "number", "lines", "masked lines", "masked of 10,000 lines", "time for 1 MB"),
            map(_share, looked_at),
        ),
        *(_listed(tree) for tree in looked_at[:2]),
        CANNOT,
    ]
    return "\n\n".join(part.strip() for part in parts) + "\n"


def _listed(tree: Tree) -> str:
    listed = "\n".join(tree.lines)
    return f"In {tree.title}:\n\n```\n{listed}\n```"


def _share(tree: Tree) -> list[str]:
    in_ten_thousand = 10_000 * len(tree.lines) / tree.n_lines
    ms = 1e9 * tree.seconds / tree.n_bytes
    figures = [f"{tree.n_files:,}", f"{tree.n_lines:,}", str(len(tree.lines)), f"{in_ten_thousand:.2f}", f"{ms:.0f} ms"]
    return [tree.title, *figures]


def main(words: Sequence[str] | None = None) -> int:
    """Measure and print the page."""
    parser = argparse.ArgumentParser(prog="python -m evals.secrets", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--page", type=Path, help="write the result to this file as well")
    parser.add_argument("--growth", action="store_true", help="measure texts that are made to be slow, and end")
    given = parser.parse_args(words)
    if given.growth:
        for ratio, seconds, title in growth()[-20:]:
            print(f"four times the text takes {ratio:.1f} times as long ({seconds:.2f} s): {title}")
        return 0
    text = page()
    print(text)
    if given.page:
        given.page.write_text(text, encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
