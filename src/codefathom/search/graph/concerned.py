"""What documents show otherwise than before → the answers about uses that it concerns.

An answer has noted what it has read of other files than those of its uses. Where something of that is shown otherwise,
it is found anew; where only an import of the file of a use leads elsewhere, the uses in that file are. In doubt the
whole answer is.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from collections.abc import Set as AbstractSet
from itertools import chain
from typing import TYPE_CHECKING

from codefathom.facts.languages import CODE
from codefathom.search.graph.exports import DEFAULT
from codefathom.search.graph.import_texts import ImportTexts, can_tell
from codefathom.search.graph.name_bindings import EVERY, bindings_of
from codefathom.search.graph.read_sets import ALIASES, DEFAULTS, EXPORTS, IMPORTERS, NAME, THROUGH, TYPE, ReadSet
from codefathom.search.graph.reference_graph import NAMED_FAMILIES, ReferenceGraph, import_texts
from codefathom.search.graph.renamed_imports import renamed
from codefathom.search.graph.resolve import family, has_stem
from codefathom.stores.catalog.import_forms import ImportForm
from codefathom.types import Reference

if TYPE_CHECKING:
    from codefathom.stores.catalog.outward import OutwardChange

_MOST_IMPORTS = 5_000  # that are compared with the documents that came and went
_MOST_FILES = 300  # whose uses are resolved again
# Here it can depend on all files of a folder which of several folders an import means.
_BY_FOLDER = frozenset({"swift"})


def is_read(shown: OutwardChange, read_set: ReadSet) -> bool:
    """Return True if an answer has read something that is shown otherwise now."""
    if any(read_set.has(TYPE, name) for name in shown.types):
        return True
    for language, name in shown.names:
        if read_set.has(NAME, family(language), name) or read_set.has(NAME, "", name):
            return True
    if any(read_set.has(kind, path) for path in shown.gone for kind in (THROUGH, EXPORTS)):
        return True
    return any(_is_import_read(path, form, read_set) for path, forms in shown.imports.items() for form in forms)


def _is_import_read(path: str, form: ImportForm, read_set: ReadSet) -> bool:
    """Return True if an answer has looked for a name, or for other names, where an import has come or gone."""
    if any(read_set.has(ALIASES, one.original) for one in renamed(form)):
        return True
    if family(form.language) == "javascript":
        names = form.qualifier.split(", ")
        if any(read_set.has(IMPORTERS, name) for name in names):
            return True
        if read_set.has(DEFAULTS) and any(one.original == DEFAULT for one in renamed(form)):
            return True
    if not read_set.has(THROUGH, path):
        return False
    local_names = list(_local_names(form))
    return not local_names or any(name == EVERY or read_set.has(THROUGH, path, name) for name in local_names)


def _local_names(form: ImportForm) -> Iterator[str]:
    """Yield the names that an import gives to its file; `import a.b` of Python also gives it a."""
    for one in bindings_of(Reference("import", form.name, 1, qualifier=form.qualifier), form.language):
        yield one.local
        name = one.local
        while "." in name:
            name = name.rpartition(".")[0]
            yield name


def files_led_elsewhere(graph: ReferenceGraph, shown: OutwardChange, own: str) -> AbstractSet[str] | None:
    """Return the files of which imports may mean other documents than before; None where that is not known.

    They are those of one family of languages.
    """
    moved = {**shown.gone, **shown.come}
    names = {name for language, name in shown.names if family(language) == own} if own in NAMED_FAMILIES else set()
    if any(_is_hidden(graph, *item, own) for item in chain(shown.gone.items(), shown.come.items())):
        return None
    if own == "python" and not _are_in_lasting_folders(graph, shown):
        return None
    texts = graph.catalog.kept(import_texts)
    files = {use.path for use in graph.imports(texts.leading_to((), names))} if names else set[str]()
    uses = graph.imports(_forms_for(texts, moved, own)) if moved else ()
    for number, use in enumerate(uses):
        if number > _MOST_IMPORTS:
            return None
        if use.path not in files and graph.resolver.may_lead(use.reference.name, use.path, moved.keys()):
            files.add(use.path)
    return files if len(files) <= _MOST_FILES else None


def _is_hidden(graph: ReferenceGraph, path: str, language: str, own: str) -> bool:
    """Return True if the text of an import does not tell that it means a document."""
    if not can_tell(path):
        return True
    if family(language) != own and language in CODE:
        return False
    return own in _BY_FOLDER or graph.resolver.is_meant_silently(path, language)


def _are_in_lasting_folders(graph: ReferenceGraph, shown: OutwardChange) -> bool:
    """Return True if the folders of modules of Python that came or went have others, which were and are there.

    The folders of a package are tried in another order when one has got its first module.
    """
    languages = graph.resolver.language_of
    both = chain(shown.gone.items(), shown.come.items())
    moved = [path for path, language in both if language == "python"]
    folders = {path.rpartition("/")[0] for path in moved}
    for path in languages if folders else ():
        if languages[path] == "python" and path not in shown.come:
            folders.discard(path.rpartition("/")[0])
    return not folders and all(path.rpartition("/")[2].count(".") == 1 for path in moved)


def _forms_for(texts: ImportTexts, moved: Mapping[str, str], own: str) -> Sequence[ImportForm]:
    """Return the imports whose text tells that they could mean one of some documents."""
    forms = [form for form in texts.leading_to(moved, frozenset()) if family(form.language) == own]
    return forms if own != "python" else [form for form in forms if has_stem(form.name, moved)]
