"""The lines that tell what a project is for: README, package description, entry points, largest modules."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterator, Sequence
from itertools import chain, islice

from codefathom.facts.languages import CODE
from codefathom.facts.paths import describes_package, opens_module, starts_program
from codefathom.search.ranking.places import place_of
from codefathom.search.ranking.rank import Pool
from codefathom.search.ranking.signals import Candidate
from codefathom.stores.catalog.readers import SearchCatalog
from codefathom.stores.catalog.records import StoredDocument

_N_README, _N_PACKAGE, _N_ENTRY, _N_MODULES = 3, 1, 2, 4


def overview(catalog: SearchCatalog, keys: Collection[int] | None) -> Pool:
    """Return the chunks that tell what a project is for, the most telling first, inside `keys`; None: everywhere."""
    documents = [document for document in catalog.documents() if not _is_aside(document.path)]
    chosen = chain(
        _first_chunks(readmes(documents), catalog, _N_README),
        _first_chunks(_named(documents, describes_package)[:_N_PACKAGE], catalog, 1),
        _first_chunks(_named(documents, starts_program)[:_N_ENTRY], catalog, 1),
        _first_chunks(islice(_modules(documents), _N_MODULES), catalog, 1),
    )
    candidates: dict[int, Candidate] = {}
    for key, candidate in chosen:
        if keys is None or key in keys:
            candidates.setdefault(key, candidate)
    scores = {key: 1 - place / (len(candidates) + 1) for place, key in enumerate(candidates)}
    return Pool(list(candidates.values()), scores, {key: {"overview": score} for key, score in scores.items()})


def _first_chunks(
    paths: Sequence[str] | Iterator[str], catalog: SearchCatalog, n: int
) -> Iterator[tuple[int, Candidate]]:
    for path in paths:
        for key, chunk in catalog.chunks_of(path)[:n]:
            yield key, Candidate(key, chunk, line=chunk.start_line)


def _is_aside(path: str) -> bool:
    return place_of(path).is_aside or path.startswith(("doc/", "docs/"))


def readmes(documents: Sequence[StoredDocument]) -> list[str]:
    """Return the README nearest to the root."""
    named = [document.path for document in documents if _name(document.path).lower().startswith("readme")]
    return sorted(named, key=lambda path: (path.count("/"), not _name(path).lower().startswith("readme."), path))[:1]


def _named(documents: Sequence[StoredDocument], is_meant: Callable[[str], bool]) -> list[str]:
    """Return the files with a name that is meant, nearest to the root first."""
    paths = [document.path for document in documents if is_meant(_name(document.path))]
    return sorted(paths, key=lambda path: (path.count("/"), path))


def _modules(documents: Sequence[StoredDocument]) -> Iterator[str]:
    """Yield a file of each folder of code, the largest folder first: the one that stands for it, or its largest."""
    code = [document for document in documents if document.language in CODE]
    n_lines: Counter[str] = Counter()
    for document in code:
        n_lines[document.path.rpartition("/")[0]] += document.n_lines
    for folder, _ in sorted(n_lines.items(), key=lambda item: (-item[1], item[0])):
        inside = [document for document in code if document.path.rpartition("/")[0] == folder]
        yield max(inside, key=lambda document: (opens_module(_name(document.path)), document.n_lines)).path


def _name(path: str) -> str:
    return path.rpartition("/")[2]
