"""The choice of files of an index run, such as `--required-exts`, which holds until another run chooses otherwise."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from codefathom.config.git_config import excludes_file
from codefathom.config.settings import Settings
from codefathom.source.scan import ScanRules
from codefathom.stores.catalog.catalog import Catalog
from codefathom.stores.catalog.records import Batch

KEPT_RULES = "kept rules"  # key in the catalogue
_NAMES = ("required_exts", "ignore")


def scan_rules(settings: Settings, environ: Mapping[str, str]) -> ScanRules:
    """Return the rules of the settings, and of the configuration of git of the user."""
    return ScanRules(
        required_exts=_endings(settings.source.required_exts),
        ignore=settings.source.ignore,
        follow_symlinks=settings.source.follow_symlinks,
        max_bytes=settings.source.max_file_bytes,
        include_generated=settings.source.include_generated,
        max_document_bytes=settings.source.max_document_bytes,
        most_revision_files=settings.source.revision_files,
        user_exclude=excludes_file(environ),
    )


def keep_rules(catalog: Catalog, settings: Settings) -> None:
    """Keep the rules that were given as arguments; an empty list ends an earlier choice. Needs the writer lock."""
    rules = kept_rules(catalog)
    for name in _NAMES:
        if _is_argument(settings, name):
            rules[name] = getattr(settings.source, name)
    text = json.dumps({name: value for name, value in rules.items() if value})
    if text != catalog.get_meta(KEPT_RULES, "{}"):
        catalog.write(Batch(meta={KEPT_RULES: text}))


def kept_rules(catalog: Catalog) -> dict[str, tuple[str, ...]]:
    """Return the rules that an earlier run has kept, by the name of their setting."""
    values = json.loads(catalog.get_meta(KEPT_RULES, "{}"))
    return {name: tuple(values[name]) for name in _NAMES if name in values}


def with_kept(rules: ScanRules, catalog: Catalog, settings: Settings) -> ScanRules:
    """Return rules with those that an earlier run has kept, unless this run was given its own."""
    kept = {name: value for name, value in kept_rules(catalog).items() if not _is_argument(settings, name)}
    endings = kept.get("required_exts", rules.required_exts)
    return rules._replace(required_exts=_endings(endings), ignore=kept.get("ignore", rules.ignore))


def _endings(values: Iterable[str]) -> tuple[str, ...]:
    """Return the ends of names that are meant: a pattern such as *.py is an ending with a star before it."""
    return tuple(value.removeprefix("**/").removeprefix("*") for value in values)


def _is_argument(settings: Settings, name: str) -> bool:
    return settings.origins.get(f"source.{name}") == "argument"
