"""Mine (query, document) pairs from sources under permissive licences. The mined text stays outside the repository.

    python -m training.mine --sources training/sources.json --excluded training/excluded.txt \
        --repositories MIRROR --packages UNPACKED --out PAIRS

MIRROR holds one git directory a repository, `owner+name/repo`; UNPACKED one folder a package, `pypi+name`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from hashlib import blake2b
from pathlib import Path
from typing import NamedTuple

from codefathom.facts.paths import is_test
from codefathom.index.chunk import split_lines
from codefathom.parse import parse
from codefathom.source.documents import read
from codefathom.source.scan import scan
from codefathom.types import Document, Skipped, Symbol
from training.comments import BRACES, LANGUAGES, definitions
from training.sources import Source, forbidden, read_sources
from training.tested import cases_of, matched

_MOST_PAIRS = 16_000  # of one source, so that no project's words rule the model
_MOST_COMMITS = 2_500
_MOST_BODY = 1_500
_COPIES = re.compile(r"(?:^|/)(?:vendor|_?vendored|_vendor|third[_-]?party|node_modules|deps|external|dist)(?:/|$)")
_PROSE = {"markdown", "rst", "text"}
_MARKS = " \t*/#-!\"';<>|"
_SENTENCE = re.compile(r"(?<=[.!?。！？])\s+|\n\s*\n|(?<=[。！？])")
_TAG = re.compile(r"</?\w+[^>]*>|[{]@\w+ ([^}]*)[}]")
_CHINESE = re.compile(r"[\u4e00-\u9fff]")
_SUBJECT_PREFIX = re.compile(r"^(?:\[[^\]]*\]\s*|\w+(?:\([^)]*\))?!?:\s+)|\s*\(?#\d+\)?\s*$")


class Pair(NamedTuple):
    """What a person might ask, and the text that answers it in the form in which chunks are embedded."""

    kind: str
    language: str
    query: str
    document: str


class Folders(NamedTuple):
    """Where the sources lie and where the pairs go."""

    repositories: Path
    packages: Path
    out: Path


def mine(source: Source, folders: Folders) -> tuple[str, int]:
    """Write the pairs of one source; return its name and how many there are."""
    target = folders.out / f"{source.name.replace('/', '+').replace(':', '+')}.jsonl"
    if not target.exists():
        pairs = list({(pair.query, pair.document[-400:]): pair for pair in _pairs(source, folders)}.values())
        random.Random(source.name).shuffle(pairs)
        lines = [json.dumps(pair._asdict(), ensure_ascii=False) for pair in pairs[:_MOST_PAIRS]]
        target.write_text("".join(line + "\n" for line in lines), "utf-8", errors="replace")
    with target.open("rb") as file:
        return source.name, sum(1 for _ in file)


def _pairs(source: Source, folders: Folders) -> Iterator[Pair]:
    if source.name == "python-standard-library":
        yield from _tree_pairs(sysconfig.get_paths()["stdlib"])
    elif ":" in source.name:
        yield from _tree_pairs(str(folders.packages / source.name.replace(":", "+")))
    else:
        git = folders.repositories / source.name.replace("/", "+") / "repo"
        git = git / ".git" if (git / ".git").is_dir() else git
        with tempfile.TemporaryDirectory() as folder:
            lay(git, source.revision, Path(folder))
            yield from _tree_pairs(folder)
        yield from _commit_pairs(git, source.revision)


def lay(git: Path, revision: str, folder: Path) -> None:
    """Write the files of a revision that the git directory holds; snapshots can lack the largest ones."""
    command = ["git", "--git-dir", str(git)]
    listing = subprocess.run([*command, "ls-tree", "-r", "-z", revision], capture_output=True, check=True).stdout
    entries = [entry.partition("\t") for entry in listing.decode("utf-8", "replace").split("\0")]
    wanted = [(head.split()[2], path) for head, _, path in entries if head.startswith("100") and ".." not in path]
    names = "".join(f"{name}\n" for name, _ in wanted).encode()
    found = subprocess.run([*command, "cat-file", "--batch"], input=names, capture_output=True, check=True).stdout
    position = 0
    for _, path in wanted:
        end = found.index(b"\n", position)
        head = found[position:end].split()
        position = end + 1
        if head[1] != b"missing":
            size = int(head[2])
            target = folder / path
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(found[position : position + size])
            position += size + 1


def _tree_pairs(root: str) -> Iterator[Pair]:
    files = [file for file in scan(root).files if not _COPIES.search(file.path) and "site-packages" not in file.path]
    random.Random(7).shuffle(files)
    documents = [document for file in files[:4_000] if not isinstance(document := read(root, file), Skipped)]
    documents = [document for document in documents if document.size < 300_000]
    for document in documents:
        yield from document_pairs(document)
    yield from pairs_of_tests(documents)


def document_pairs(document: Document) -> Iterator[Pair]:
    """Yield the pairs of one file: documentation ↔ definition, name ↔ body, heading ↔ section, file doc ↔ outline."""
    lines = split_lines(document.text)
    symbols = _symbols(document)
    for symbol in symbols:
        if symbol.kind == "section" and not re.search(
            r"(?i)change|history|news|release|/[a-z]{2}-[a-z]{2}/", document.path
        ):
            yield from _section_pairs(document, symbol, lines)
        elif symbol.kind not in {"section", "variable", "constant", "field"} or symbol.doc:
            yield from _symbol_pairs(document, symbol, lines)
    code = [symbol for symbol in symbols if symbol.kind != "section"]
    if len(code) > 2:
        outline = "\n".join(symbol.signature or symbol.name for symbol in code)[:_MOST_BODY]
        if about := first_sentence(opening(lines)):
            yield Pair("file", document.language, about, _text(document.path, "", "", outline))


def _symbols(document: Document) -> list[Symbol]:
    """The documented definitions as comments tell them; undocumented ones, and other languages, by their grammar."""
    if document.language not in LANGUAGES:
        return list(parse(document).symbols)
    found = definitions(document)
    if document.language in BRACES:
        named = {symbol.name for symbol in found}
        found += [symbol for symbol in parse(document).symbols if not symbol.doc and symbol.name not in named]
    return found


def pairs_of_tests(documents: Sequence[Document]) -> Iterator[Pair]:
    """Yield the titles of tests with the functions they test, where a name has one definition only."""
    answers: dict[str, Pair | None] = {}
    for document in documents:
        if document.language not in _PROSE and not is_test(document.path):
            lines = split_lines(document.text)
            for symbol in _symbols(document):
                if symbol.kind in {"function", "method"} and (text := _answer(document, symbol, lines)):
                    pair = Pair("tested", document.language, "", text)
                    answers[symbol.name] = None if symbol.name in answers else pair
    tests = [test for document in documents if is_test(document.path) for test in cases_of(document.text)]
    for title, name in matched(tests, lambda name: answers.get(name) is not None):
        if answer := answers[name]:
            yield answer._replace(query=title)


def opening(lines: Sequence[str]) -> str:
    """Return the comment at the top of a file; nothing where it is a licence."""
    found: list[str] = []
    for line in lines[:40]:
        if line.strip() and line.strip()[0] not in "/*#-\"'{;<!" and not (found and '"""' in "".join(lines[:1])):
            break
        found.append(line.strip().strip(_MARKS))
    text = "\n".join(found)
    return "" if re.search(r"(?i)copyright|licen[cs]e|#!|coding:", text) else text


def _symbol_pairs(document: Document, symbol: Symbol, lines: Sequence[str]) -> Iterator[Pair]:
    if not (text := _answer(document, symbol, lines)):
        return
    if query := first_sentence(symbol.doc):
        yield Pair("doc", document.language, query, text)
        if len(symbol.doc) > 2 * len(query) and len(rest := symbol.doc[len(query) :].strip()) > 40:
            yield Pair("more", document.language, rest[:300], text)
    elif symbol.end_line - symbol.start_line > 3 and _one_in_four(text):
        body = "\n".join(text.split("\n")[4:])
        yield Pair("name", document.language, symbol.name, body.replace(symbol.name, ""))


def _answer(document: Document, symbol: Symbol, lines: Sequence[str]) -> str:
    """The text of a definition without its documentation; nothing when hardly anything is left."""
    whole = lines[symbol.start_line - 1 : symbol.end_line]
    about = {line.strip(_MARKS) for line in symbol.doc.splitlines()} - {""}
    body = "".join(line for line in whole if line.strip().strip(_MARKS) not in about)[:_MOST_BODY]
    return _text(document.path, symbol.qualified_name, symbol.signature, body) if len(body) >= 40 else ""


def _one_in_four(text: str) -> bool:
    return int(blake2b(text.encode("utf-8", "replace"), digest_size=2).hexdigest(), 16) % 4 == 0


def _section_pairs(document: Document, symbol: Symbol, lines: Sequence[str]) -> Iterator[Pair]:
    body = "".join(lines[symbol.name_line : symbol.end_line])[:_MOST_BODY]
    if len(body) > 120 and len(symbol.name) > 3:
        title = " ".join(symbol.qualified_name.split(".")[-2:])
        yield Pair("section", document.language, title, f"{document.path}\n{body}")
    prose, fence, code = body.partition("```")
    if fence and len(code) > 60 and (query := first_sentence(prose)):
        yield Pair("example", document.language, query, code.partition("```")[0])


def first_sentence(text: str) -> str:
    """Return the first sentence that says something, in at most 300 characters; nothing when there is none."""
    text = _TAG.sub(r"\1", text).strip()
    first = " ".join(_SENTENCE.split(text, maxsplit=1)[0].split())[:300] if text else ""
    enough = len(first.split()) >= 3 or len(_CHINESE.findall(first)) >= 4
    return "" if not enough or first.startswith("@") else first


def _text(path: str, name: str, signature: str, body: str) -> str:
    return f"{path}\n{path.rpartition('/')[0]}\n{name}\n{signature}\n{body}"


def _commit_pairs(git: Path, revision: str) -> Iterator[Pair]:
    """Yield the subject of a commit with the parts of the code it changed."""
    command = ["git", "--git-dir", str(git), "log", "-p", "-U4", "--no-merges", "--no-renames", "--diff-filter=M"]
    command += [f"-{_MOST_COMMITS}", "--format=%x01%s%x02", revision]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace")
    text, _ = process.communicate(timeout=600)
    for entry in text.split("\x01")[1:]:
        subject, _, diff = entry.partition("\x02")
        query = _SUBJECT_PREFIX.sub("", _SUBJECT_PREFIX.sub("", subject)).strip()
        files = diff.split("\ndiff --git ")[1:]
        if first_sentence(query) and 1 <= len(files) <= 6 and not re.search(r"(?i)\bbump|release|version|typo", query):
            yield from (Pair("commit", "", query, text) for text in map(_changed, files[:3]) if text)


def _changed(diff: str) -> str:
    path = diff.split(" b/", 1)[-1].split("\n", 1)[0]
    if len(diff) > 20_000 or re.search(r"(?i)change|test|\.(?:lock|json|svg|ya?ml)$|spec|readme", path):
        return ""
    kept: list[str] = []
    for line in diff.splitlines():
        if line.startswith("@@"):
            kept.append(line.split("@@", 2)[-1].strip())
        elif kept and not line.startswith("-"):
            kept.append(line[1:])
    return f"{path}\n{path.rpartition('/')[0]}\n" + "\n".join(kept)[:_MOST_BODY] if len(kept) > 3 else ""


def main() -> int:
    """Mine every source, at most two at a time."""
    parser = argparse.ArgumentParser(description=__doc__)
    for name in ("sources", "excluded", "repositories", "packages", "out"):
        parser.add_argument(f"--{name}", type=Path, required=True)
    options = parser.parse_args()
    sources = read_sources(options.sources)
    if bad := forbidden(sources, options.excluded.read_text("utf-8").split()):
        print(f"excluded from training: {', '.join(bad)}", file=sys.stderr)
        return 2
    os.makedirs(options.out, exist_ok=True)
    folders = Folders(options.repositories, options.packages, options.out)
    with ProcessPoolExecutor(2) as pool:
        counts = dict(pool.map(partial(mine, folders=folders), sources))
    (options.out / "counts.json").write_text(json.dumps(counts, indent=1), "utf-8")
    print(sum(counts.values()), "pairs")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
