"""docs/cli.md, settings.md and languages.md are what the program itself says."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from codefathom.cli.options import COMMANDS
from codefathom.compat.setting_names import SETTING_NAMES
from codefathom.config.settings import declared_settings
from codefathom.facts.languages import EXTRACTIONS, LANGUAGES
from codefathom.parse.grammars import languages

DOCS = Path(__file__).parents[3] / "docs"


def generator():
    spec = importlib.util.spec_from_file_location("generate_docs", DOCS / "generate.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize(
    ("name", "page"),
    [
        ("cli.md", "cli_page"),
        ("settings.md", "settings_page"),
        ("languages.md", "languages_page"),
        ("filters.md", "filters_page"),
        ("../web/src/viewer/prose.ts", "wrapped_languages"),
        ("../web/src/i18n/kinds.ts", "kinds_module"),
    ],
)
def test_page_is_fresh(name: str, page: str) -> None:
    fresh = getattr(generator(), page)()
    assert (DOCS / name).read_text(encoding="utf-8") == fresh, "run: python docs/generate.py"


def test_everything_is_documented() -> None:
    cli, settings = generator().cli_page(), generator().settings_page()
    for command in COMMANDS:
        assert f"## fathom {command.name}" in cli
        for option in (*command.operands, *command.options):
            assert f"| {option.help.replace('|', chr(92) + '|')}" in cli
    for known in declared_settings():
        assert f"| `{known.key}` |" in settings
    for name in SETTING_NAMES:
        assert f"`{name}`" in settings


def test_the_table_of_languages_says_what_is_there() -> None:
    page = generator().languages_page().partition("## Documents")[0]
    rows = {row.split(" | ")[0].lstrip("| "): row for row in page.splitlines() if row.startswith("| ")}
    assert {"| --- | --- | --- | --- | --- | --- | --- |"} <= set(page.splitlines())
    assert set(rows) - {"language", "---"} == set(languages())
    assert "| function, class, type, constant, variable |" in rows["python"]
    assert "| files | calls, types | yes |" in rows["python"]
    assert "| names | calls, types | yes |" in rows["swift"]
    assert "| – | calls, types | yes |" in rows["sql"]
    assert set(generator().MISSING) <= set(languages())


def test_the_table_of_documents_says_what_is_there() -> None:
    table = generator().languages_page().partition("## Documents")[2]
    for name, how in EXTRACTIONS.items():
        assert f"| {how.title} | `.{LANGUAGES[name].endings}` | {how.marks} |" in table
        assert f'"{name}"' in generator().wrapped_languages()
