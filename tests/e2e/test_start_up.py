"""`fathom search` starts fast because it imports little: the list is held here, so that nothing creeps in."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.waiting import LONG_S

SHOP = Path(__file__).parents[1] / "repos" / "shop"

PROGRAM = """
import gc, json, sys
before = set(sys.modules)
from codefathom.cli import main
looks = []
gc.callbacks.append(lambda phase, info: looks.append(phase))
sys.argv = ["fathom", "search", "-n", "1", "retry with backoff"]
code = main()
modules = sorted(set(sys.modules) - before)
ours = {name: list(vars(sys.modules[name]).values()) for name in modules if name.startswith("codefathom")}
classes = [one for name, values in ours.items() for one in values if getattr(one, "__module__", "") == name]
made = {
    "dataclass": sum(hasattr(one, "__dataclass_fields__") and isinstance(one, type) for one in classes),
    "named tuple": sum(hasattr(one, "_fields") and isinstance(one, type) for one in classes),
    "expression": sum(type(one).__name__ == "Pattern" for values in ours.values() for one in values),
}
sys.stderr.write(json.dumps([code, modules, len(looks), made]))
"""

# How many of each kind a search makes before it begins, at most. A dataclass takes almost a millisecond, a named tuple
# or an expression a fifth of it. What no search needs stands in modules of its own, or is compiled where it is used.
MOST_MADE = {"dataclass": 17, "named tuple": 190, "expression": 28}

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
    "codefathom.cli",
    "codefathom.cli.aliases",
    "codefathom.cli.arguments",
    "codefathom.cli.asked_questions",
    "codefathom.cli.commands",
    "codefathom.cli.commands.short_commands",
    "codefathom.cli.display",
    "codefathom.cli.display.output",
    "codefathom.cli.display.progress",
    "codefathom.cli.display.render",
    "codefathom.cli.display.terminal",
    "codefathom.cli.face",
    "codefathom.cli.filter_arguments",
    "codefathom.cli.options",
    "codefathom.cli.search_output",
    "codefathom.cli.token_budget",
    "codefathom.compat",
    "codefathom.compat.script_options",
    "codefathom.compat.setting_names",
    "codefathom.config",
    "codefathom.config.configuration",
    "codefathom.config.git_config",
    "codefathom.config.model_names",
    "codefathom.config.project_file",
    "codefathom.config.settings",
    "codefathom.config.user_places",
    "codefathom.engine",
    "codefathom.project.meant_commits",
    "codefathom.search.question.history_words",
    "codefathom.errors",
    "codefathom.facts",
    "codefathom.facts.heads",
    "codefathom.facts.languages",
    "codefathom.facts.limits",
    "codefathom.facts.paths",
    "codefathom.facts.quick_pickle",
    "codefathom.facts.reasons",
    "codefathom.index",
    "codefathom.index.chunk",
    "codefathom.index.plan",
    "codefathom.index.plan_again",
    "codefathom.project",
    "codefathom.project.asking",
    "codefathom.project.by_head",
    "codefathom.project.current_index",
    "codefathom.project.damage",
    "codefathom.project.kept_rules",
    "codefathom.project.location",
    "codefathom.project.opening",
    "codefathom.project.saved_index",
    "codefathom.project.store_choice",
    "codefathom.project.upkeep",
    "codefathom.providers",
    "codefathom.providers.base",
    "codefathom.providers.local",
    "codefathom.providers.local.bundled",
    "codefathom.question",
    "codefathom.question.asker",
    "codefathom.question.extents",
    "codefathom.question.question",
    "codefathom.question.question_options",
    "codefathom.remote",
    "codefathom.remote.vector_stores",
    "codefathom.search",
    "codefathom.search.as_written",
    "codefathom.search.facets",
    "codefathom.search.filter",
    "codefathom.search.filter.filter_options",
    "codefathom.search.graph",
    "codefathom.search.graph.edge_list",
    "codefathom.search.graph.written_targets",
    "codefathom.search.levels",
    "codefathom.search.pipeline",
    "codefathom.search.project_overview",
    "codefathom.search.question",
    "codefathom.search.question.definitions",
    "codefathom.search.question.file_mentions",
    "codefathom.search.question.frames",
    "codefathom.search.question.issue",
    "codefathom.search.question.planner",
    "codefathom.search.question.query",
    "codefathom.search.question.ranking_query",
    "codefathom.search.question.scope",
    "codefathom.search.question.simplified",
    "codefathom.search.question.translate",
    "codefathom.search.question.words",
    "codefathom.search.ranking",
    "codefathom.search.ranking.as_asked",
    "codefathom.search.ranking.calibration",
    "codefathom.search.ranking.commit_messages",
    "codefathom.search.ranking.confidence",
    "codefathom.search.ranking.copies",
    "codefathom.search.ranking.excerpt",
    "codefathom.search.ranking.explain",
    "codefathom.search.ranking.fuse",
    "codefathom.search.ranking.places",
    "codefathom.search.ranking.rank",
    "codefathom.search.ranking.signals",
    "codefathom.search.ranking.weights",
    "codefathom.search.request",
    "codefathom.search.retrieve",
    "codefathom.search.verdict",
    "codefathom.source",
    "codefathom.source.changes",
    "codefathom.source.charset",
    "codefathom.source.globs",
    "codefathom.source.ignore",
    "codefathom.source.masks",
    "codefathom.source.origin",
    "codefathom.source.scan",
    "codefathom.source.size_limits",
    "codefathom.source.stamped_tree",
    "codefathom.source.stamped_walk",
    "codefathom.source.work_tree",
    "codefathom.stores",
    "codefathom.stores.base",
    "codefathom.stores.catalog",
    "codefathom.stores.catalog.catalog",
    "codefathom.stores.catalog.checked_texts",
    "codefathom.stores.catalog.checksums",
    "codefathom.stores.catalog.compiler_uses",
    "codefathom.stores.catalog.conditions_sql",
    "codefathom.stores.catalog.digests",
    "codefathom.stores.catalog.foreign",
    "codefathom.stores.catalog.readers",
    "codefathom.stores.catalog.import_forms",
    "codefathom.stores.catalog.import_table",
    "codefathom.stores.catalog.language_table",
    "codefathom.stores.catalog.outward",
    "codefathom.stores.catalog.packed_outlines",
    "codefathom.stores.catalog.packed_references",
    "codefathom.stores.catalog.records",
    "codefathom.stores.catalog.schema",
    "codefathom.stores.catalog.soundness",
    "codefathom.stores.catalog.stem_table",
    "codefathom.stores.catalog.writing",
    "codefathom.stores.checked_files",
    "codefathom.stores.conditions",
    "codefathom.stores.database",
    "codefathom.stores.folder",
    "codefathom.stores.kept_file",
    "codefathom.stores.lent_connections",
    "codefathom.stores.lexical",
    "codefathom.stores.lexical.fields",
    "codefathom.stores.lexical.lexical_view",
    "codefathom.stores.lexical.part_query",
    "codefathom.stores.lexical.term_list",
    "codefathom.stores.lexical.terms",
    "codefathom.stores.lock",
    "codefathom.stores.packed_chunks",
    "codefathom.stores.registry",
    "codefathom.stores.seal",
    "codefathom.stores.sqlite",
    "codefathom.stores.tree_file",
    "codefathom.stores.vectors",
    "codefathom.stores.vectors.flat_vectors",
    "codefathom.stores.vectors.row_signs",
    "codefathom.stores.vectors.nearest",
    "codefathom.stores.vectors.new_rows",
    "codefathom.stores.views",
    "codefathom.stores.write_errors",
    "codefathom.system",
    "codefathom.system.adapters",
    "codefathom.system.extras",
    "codefathom.system.interruption",
    "codefathom.system.isolation",
    "codefathom.system.mounts",
    "codefathom.system.real_paths",
    "codefathom.system.stopping",
    "codefathom.telemetry",
    "codefathom.text",
    "codefathom.text.expression_syntax",
    "codefathom.text.expressions",
    "codefathom.text.file_stems",
    "codefathom.text.foreign_json",
    "codefathom.text.kept_names",
    "codefathom.text.near_names",
    "codefathom.text.packing",
    "codefathom.text.path_spelling",
    "codefathom.text.printable",
    "codefathom.text.word_runs",
    "codefathom.text.written_place",
    "codefathom.types",
    "codefathom.types.choices",
    "codefathom.types.hits",
    "codefathom.types.prices",
    "codefathom.types.skipped_files",
    "codefathom.types.symbols",
    "codefathom.types.where",
    "codefathom.versions",
}


class Search(NamedTuple):
    modules: frozenset[str]  # that were imported
    n_looks: int  # of the garbage collector, for circles of objects
    made: dict[str, int]  # classes and expressions of ours, by kind


@pytest.fixture(scope="module")
def search(tmp_path_factory: pytest.TempPathFactory) -> Search:
    folder = tmp_path_factory.mktemp("imports")
    shutil.copytree(SHOP, folder / "project")
    environment = {name: value for name, value in os.environ.items() if not name.startswith("FATHOM_")}
    environment |= {"XDG_CACHE_HOME": str(folder), "XDG_CONFIG_HOME": str(folder)}
    for _ in range(2):  # the first one makes the index
        command = [sys.executable, "-c", PROGRAM]
        ran = subprocess.run(
            command, cwd=folder / "project", env=environment, capture_output=True, check=True, timeout=LONG_S
        )
    code, modules, n_looks, made = json.loads(ran.stderr.splitlines()[-1])
    assert code == 0
    return Search(frozenset(modules), n_looks, made)


def test_search_imports_nothing_heavy(search: Search) -> None:
    assert {name.partition(".")[0] for name in search.modules} & NEVER == set()


def test_search_imports_only_these_modules_of_ours(search: Search) -> None:
    assert {name for name in search.modules if name.startswith("codefathom")} == OURS


def test_a_search_makes_few_classes_and_expressions(search: Search) -> None:
    assert {kind: n for kind, n in search.made.items() if n > MOST_MADE[kind]} == {}


def test_a_search_of_commits_takes_in_a_new_one_without_grammars_and_numpy(tmp_path: Path) -> None:
    project = tmp_path / "project"
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("FATHOM_", "GIT_"))}
    environment |= {"XDG_CACHE_HOME": str(tmp_path), "XDG_CONFIG_HOME": str(tmp_path), "HOME": str(tmp_path)}
    project.mkdir()
    subprocess.run(["git", "init", "-q"], cwd=project, env=environment, check=True, timeout=LONG_S)
    for subject in ("Read the settings", "Retry with backoff"):
        who = ("-c", "user.name=Ann", "-c", "user.email=ann@example.com")
        commit = ["git", *who, "commit", "-q", "--allow-empty", "-m", subject]
        subprocess.run(commit, cwd=project, env=environment, check=True, timeout=LONG_S)
        program = PROGRAM.replace('"-n", "1"', '"--commits", "-n", "1"')
        command = [sys.executable, "-c", program]
        ran = subprocess.run(command, cwd=project, env=environment, capture_output=True, check=True, timeout=LONG_S)
        assert b"indexed 1 file" in ran.stderr
    code, modules, *_ = json.loads(ran.stderr.splitlines()[-1])
    assert code == 0
    assert {"numpy", "semble_grammars"}.isdisjoint(name.partition(".")[0] for name in modules)


def test_a_process_that_answers_and_ends_does_not_look_for_circles_of_objects(search: Search) -> None:
    assert search.n_looks == 0


def test_a_session_that_another_process_answers_imports_next_to_nothing() -> None:
    program = "import sys; import codefathom.mcp.shared_session; print(*sys.modules)"
    ran = subprocess.run(
        [sys.executable, "-I", "-c", program], capture_output=True, text=True, check=True, timeout=LONG_S
    )
    never = NEVER - {"socket"} | {"dataclasses", "inspect", "threading", "typing"}
    assert never.isdisjoint(ran.stdout.split())
