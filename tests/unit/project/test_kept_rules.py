"""The choice of files of a run holds for the runs after it, until one of them chooses otherwise."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from codefathom.config.settings import Settings, SourceSettings
from codefathom.project.kept_rules import KEPT_RULES, keep_rules, kept_rules, scan_rules, with_kept
from codefathom.source.scan import ScanRules
from codefathom.stores.catalog.catalog import Catalog


@pytest.fixture
def catalog(tmp_path: Path) -> Iterator[Catalog]:
    catalog = Catalog.open(str(tmp_path / "catalog.db"))
    yield catalog
    catalog.close()


def settings(*given: str, **values: tuple[str, ...]) -> Settings:
    """Return settings, of which those with these names were given as arguments."""
    origins = {f"source.{name}": "argument" for name in given}
    return Settings(source=SourceSettings(**values), origins=origins)  # type: ignore[arg-type]


def test_what_was_an_argument_is_kept(catalog: Catalog) -> None:
    assert kept_rules(catalog) == {}
    keep_rules(catalog, settings("required_exts", required_exts=("*.py",), ignore=("docs/",)))
    assert kept_rules(catalog) == {"required_exts": ("*.py",)}
    keep_rules(catalog, settings("ignore", ignore=("build/", "dist/")))
    assert kept_rules(catalog) == {"required_exts": ("*.py",), "ignore": ("build/", "dist/")}
    keep_rules(catalog, settings(required_exts=("*.go",)))  # from a file of settings
    assert kept_rules(catalog)["required_exts"] == ("*.py",)
    keep_rules(catalog, settings("required_exts"))  # an empty list ends the choice
    assert kept_rules(catalog) == {"ignore": ("build/", "dist/")}


def test_nothing_is_written_where_nothing_changes(catalog: Catalog) -> None:
    before = catalog.generation
    keep_rules(catalog, settings())
    assert (catalog.generation, catalog.get_meta(KEPT_RULES, "none")) == (before, "none")
    keep_rules(catalog, settings("ignore", ignore=("a/",)))
    written = catalog.generation
    keep_rules(catalog, settings("ignore", ignore=("a/",)))
    assert catalog.generation == written


def test_a_later_run_goes_on_with_what_was_kept(catalog: Catalog) -> None:
    keep_rules(catalog, settings("required_exts", "ignore", required_exts=("*.py", "**/*.pyi", ".go"), ignore=("a/",)))
    rules = ScanRules(required_exts=(".md",), ignore=("b/",), max_bytes=7)
    later = with_kept(rules, catalog, settings())
    assert (later.required_exts, later.ignore, later.max_bytes) == ((".py", ".pyi", ".go"), ("a/",), 7)
    own = with_kept(rules, catalog, settings("ignore", ignore=("b/",)))
    assert (own.required_exts, own.ignore) == ((".py", ".pyi", ".go"), ("b/",))
    both = with_kept(rules, catalog, settings("ignore", "required_exts"))
    assert (both.required_exts, both.ignore) == ((".md",), ("b/",))


def test_without_an_earlier_choice_the_rules_stay(catalog: Catalog) -> None:
    rules = ScanRules(required_exts=(".md",), ignore=("b/",))
    assert with_kept(rules, catalog, settings()) == rules


def test_the_rules_of_the_settings(tmp_path: Path) -> None:
    source = SourceSettings(
        required_exts=("*.py", "**/*.md", "x.go"),
        ignore=("a/",),
        follow_symlinks=True,
        max_file_bytes=11,
        include_generated=True,
        max_document_bytes=13,
        revision_files=17,
    )
    (tmp_path / "git").mkdir()
    (tmp_path / "git" / "ignore").write_text("*.tmp\n")
    environ = {"HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path)}
    rules = scan_rules(Settings(source=source), environ)
    assert rules.required_exts == (".py", ".md", "x.go")
    assert (rules.ignore, rules.follow_symlinks, rules.include_generated) == (("a/",), True, True)
    assert (rules.max_bytes, rules.max_document_bytes, rules.most_revision_files) == (11, 13, 17)
    assert rules.user_exclude == str(tmp_path / "git" / "ignore")
