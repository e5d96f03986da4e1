"""`fathom search` starts fast because it imports little: the list is held here, so that nothing creeps in."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

SHOP = Path(__file__).parents[1] / "repos" / "shop"

PROGRAM = """
import json, sys
before = set(sys.modules)
from codefathom.cli import main
code = main(["search", "-n", "1", "retry with backoff"])
sys.stderr.write(json.dumps([code, sorted(set(sys.modules) - before)]))
"""

# Each of these costs more than the search itself; they belong to indexing or to nothing at all.
NEVER = {
    "asyncio",
    "concurrent",
    "difflib",
    "email",
    "http",
    "logging",
    "multiprocessing",
    "numpy",
    "pathspec",
    "regex",
    "semble_grammars",
    "shutil",
    "socket",
    "subprocess",
    "tempfile",
    "tomllib",
    "tree_sitter",
    "typing_extensions",
    "urllib",
}

OURS = {
    "codefathom",
    "codefathom.chunk",
    "codefathom.cli",
    "codefathom.cli.aliases",
    "codefathom.cli.arguments",
    "codefathom.cli.commands",
    "codefathom.cli.face",
    "codefathom.cli.filters",
    "codefathom.cli.options",
    "codefathom.cli.output",
    "codefathom.cli.progress",
    "codefathom.cli.render",
    "codefathom.cli.terminal",
    "codefathom.configuration",
    "codefathom.engine",
    "codefathom.errors",
    "codefathom.expression_syntax",
    "codefathom.expressions",
    "codefathom.isolation",
    "codefathom.naming",
    "codefathom.opening",
    "codefathom.plan",
    "codefathom.reading",
    "codefathom.printable",
    "codefathom.project_file",
    "codefathom.providers",
    "codefathom.providers.base",
    "codefathom.providers.bundled",
    "codefathom.search",
    "codefathom.search.calibration",
    "codefathom.search.confidence",
    "codefathom.search.connected",
    "codefathom.search.explain",
    "codefathom.search.filter_options",
    "codefathom.search.filters",
    "codefathom.search.frames",
    "codefathom.search.fuse",
    "codefathom.search.imports",
    "codefathom.search.issue",
    "codefathom.search.levels",
    "codefathom.search.pipeline",
    "codefathom.search.places",
    "codefathom.search.planner",
    "codefathom.search.query",
    "codefathom.search.rank",
    "codefathom.search.related",
    "codefathom.search.resolve",
    "codefathom.search.retrieve",
    "codefathom.search.scope",
    "codefathom.search.signals",
    "codefathom.search.translate",
    "codefathom.search.wanted",
    "codefathom.search.weights",
    "codefathom.search.words",
    "codefathom.settings",
    "codefathom.source",
    "codefathom.source.changes",
    "codefathom.source.globs",
    "codefathom.source.ignore",
    "codefathom.source.masks",
    "codefathom.source.origin",
    "codefathom.source.scan",
    "codefathom.stores",
    "codefathom.stores.base",
    "codefathom.stores.catalog",
    "codefathom.stores.checksums",
    "codefathom.stores.database",
    "codefathom.stores.fields",
    "codefathom.stores.folder",
    "codefathom.stores.foreign",
    "codefathom.stores.lexical",
    "codefathom.stores.lock",
    "codefathom.stores.records",
    "codefathom.stores.registry",
    "codefathom.stores.schema",
    "codefathom.stores.seal",
    "codefathom.stores.soundness",
    "codefathom.stores.sqlite",
    "codefathom.stores.tokens",
    "codefathom.stores.vectors",
    "codefathom.stores.views",
    "codefathom.stores.writing",
    "codefathom.telemetry",
    "codefathom.types",
    "codefathom.versions",
    "codefathom.word_runs",
}


@pytest.fixture(scope="module")
def imported(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    folder = tmp_path_factory.mktemp("imports")
    shutil.copytree(SHOP, folder / "project")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FATHOM_")}
    environment |= {"XDG_CACHE_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    for _ in range(2):  # the first one makes the index
        command = [sys.executable, "-c", PROGRAM]
        ran = subprocess.run(command, cwd=folder / "project", env=environment, capture_output=True, check=True)
    code, modules = json.loads(ran.stderr.splitlines()[-1])
    assert code == 0
    return set(modules)


def test_search_imports_nothing_heavy(imported: set[str]) -> None:
    assert {name.partition(".")[0] for name in imported} & NEVER == set()


def test_search_imports_only_these_modules_of_ours(imported: set[str]) -> None:
    assert {name for name in imported if name.startswith("codefathom")} == OURS
