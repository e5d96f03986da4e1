"""Limits on the shape of the source, so that they hold without anyone remembering them."""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from collections import Counter
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from statistics import median

import pytest
from tests.waiting import LONG_S

import codefathom

ROOT = Path(__file__).parent.parent
SOURCE = ROOT / "src" / "codefathom"
FILES = sorted(SOURCE.rglob("*.py"))
Function = ast.FunctionDef | ast.AsyncFunctionDef

MAX_FUNCTION_LINES = 80
MAX_PARAMETERS = 6

# Functions with more parameters, each with its reason.
MANY_PARAMETERS: dict[str, str] = {
    "engine.py:search": "a question, and each way to limit its hits",
    "askers/joined.py:search": "as that of the engine",
}

MODULES_THAT_SAY_NOTHING = {"utils", "helpers", "common", "core", "managers", "services", "models"}
CLASSES_THAT_SAY_NOTHING = ("Manager", "Helper", "Handler", "Service")

# Imported where used: a search pays only for what it needs, and a lock only for its platform.
MAY_IMPORT_INSIDE = {
    "__init__.py",
    "project/roles.py",
    "engine.py",
    "project/current_index.py",
    "project/opening.py",
    "project/asking.py",
    "project/saved_index.py",
    "project/upkeep.py",
    "fleet/fleet.py",
    "fleet/opened_fleet.py",
    "fleet/remote_sources.py",
    "index/forecast.py",
    "index/plan.py",
    "index/purposes.py",
    "index/reparse.py",
    "parse/__init__.py",
    "source/charset.py",
    "config/configuration.py",
    "source/origin.py",
    "mcp/project_questions.py",
    "search/expression_search.py",
    "search/retrieve.py",
    "stores/lock.py",
    "stores/vectors/flat_vectors.py",
    "remote/vector_stores.py",
}

# What a module whose docstring says "Pure." may import, itself and through modules of ours, also inside functions: what
# makes values of values. So it comes to no file, clock, chance, network, process or variable of the environment, and to
# no stream; what it is given, such as an iterator that reads, is not its own.
OF_VALUES = {
    *(
        "__future__",
        "base64",
        "array",
        "bisect",
        "difflib",  # compares two texts
        "heapq",
        "codecs",
        "collections",
        "contextlib",
        "dataclasses",
        "datetime",
        "functools",
        "hashlib",
        "hmac",
        "itertools",
    ),
    *("html", "json", "math", "operator", "posixpath", "re", "string", "struct", "tomllib"),
    *("types", "typing", "unicodedata", "warnings", "zlib"),
    "chardet",  # looks at bytes
}
NOT_OF_VALUES = {"open", "input", "print", "exec", "eval", "__import__", "breakpoint"}
CLOCKS = {"now", "today", "utcnow"}  # of `datetime`
# Its clock ends an expression that has no end, and decides nothing else.
HAS_A_LIMIT = "codefathom.text.expressions"
# Imports modules of its own, when one of their names is asked for, and these make values of values.
IMPORTS_ITS_OWN = "codefathom.types"

# Each library outside the standard one, and the only modules that may import it.
LIBRARIES = {
    "chardet": {"source/charset.py"},
    "httpcore": {"system/bounded_http.py"},
    "httpx": {
        "providers/http.py",
        "server/access/openid_provider.py",
        "source/web.py",
        "stores/vectors/chroma_vectors.py",
        "system/bounded_http.py",
    },
    "numpy": {
        "providers/local/bundled.py",
        "providers/local/reduce.py",
        "providers/local/static.py",
        "providers/local/transformer.py",
        "stores/vectors/duckdb_vectors.py",
        "stores/vectors/faiss_vectors.py",
        "stores/vectors/flat_vectors.py",
        "stores/vectors/payload.py",
        "stores/vectors/nearest.py",
        "stores/vectors/row_signs.py",
    },
    "regex": {"text/expressions.py"},
    "semble_grammars": {"parse/machine_code.py"},
    "simsimd": {
        "stores/vectors/flat_vectors.py",
        "stores/vectors/nearest.py",
        "stores/vectors/row_signs.py",
    },
    "tantivy": {"stores/lexical/lexical_view.py", "stores/lexical/part_query.py"},
    "tree_sitter": {
        *("parse/grammars.py", "parse/leading_comments.py", "parse/outline.py", "parse/qualifiers.py"),
        *("parse/local_names.py", "parse/machine_code.py", "parse/treesitter.py"),
    },
}

# What the extras `server` and `mcp` bring; only the server imports it.
OF_THE_SERVER = {"anyio", "fastapi", "h11", "mcp", "mcp_types", "opentelemetry", "pydantic", "starlette", "uvicorn"} | {
    "pydantic_core"
}

# What the extra `lsp` brings.
OF_EDITORS = {"lsprotocol", "pygls"}

# What the extras `cluster` and `s3` bring.
OF_CLUSTERS = {"ray", "obstore"}


@cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def functions() -> Iterator[tuple[str, Function]]:
    for path in FILES:
        for node in ast.walk(tree(path)):
            if isinstance(node, Function):
                yield f"{name_of(path)}:{node.name}", node


def n_lines(node: Function) -> int:
    assert node.end_lineno is not None
    return node.end_lineno - node.lineno + 1


def parameters(node: Function) -> list[str]:
    arguments = node.args
    named = [item.arg for item in (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs)]
    extra = [item.arg for item in (arguments.vararg, arguments.kwarg) if item]
    return [name for name in named + extra if name not in {"self", "cls"}]


def imported(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Import):
        return [alias.name for alias in node.names]
    if isinstance(node, ast.ImportFrom):
        return [node.module or ""]
    return []


def test_functions_are_short() -> None:
    lengths = sorted(n_lines(node) for _, node in functions())
    assert median(lengths) <= 10
    assert sum(length <= 35 for length in lengths) >= 0.9 * len(lengths)


def test_no_function_is_very_long() -> None:
    assert [f"{name} {n_lines(node)}" for name, node in functions() if n_lines(node) > MAX_FUNCTION_LINES] == []


def test_functions_take_few_parameters() -> None:
    many = {name: parameters(node) for name, node in functions() if len(parameters(node)) > MAX_PARAMETERS}
    assert many.keys() == MANY_PARAMETERS.keys(), many


def test_every_function_says_what_it_returns() -> None:
    assert [name for name, node in functions() if node.returns is None] == []


def test_names_say_something() -> None:
    parts = {part for path in FILES for part in path.relative_to(SOURCE).with_suffix("").parts}
    assert parts & MODULES_THAT_SAY_NOTHING == set()
    classes = [node.name for path in FILES for node in ast.walk(tree(path)) if isinstance(node, ast.ClassDef)]
    assert [name for name in classes if name.endswith(CLASSES_THAT_SAY_NOTHING)] == []
    # `Told` and `Ranked` leave open what they are; these four are names of results that programs already use.
    lone = [name for name in classes if re.fullmatch(r"[A-Z][a-z]+(ed|ing)|Told", name)]
    assert sorted(set(lone) - {"Skipped", "Related", "Dropped", "Checked", "Setting", "Briefing"}) == []


# A value is named by a noun that says what it is; these say only that it was come by.
NO_NOUNS = {"found", "known", "asked", "wanted", "given"}


def named_values(node: ast.AST) -> Iterator[str]:
    """Yield the names that a node gives to values: variables, parameters, attributes, functions."""
    if isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.arg):
        yield node.arg
    elif isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
        yield node.name


def test_values_are_named_by_nouns() -> None:
    named = {
        f"{name_of(path)}:{getattr(node, 'lineno', 0)} {name}"
        for path in FILES
        for node in ast.walk(tree(path))
        for name in named_values(node)
        if name.strip("_").lower() in NO_NOUNS
    }
    assert named == set()


def test_own_imports_stand_on_top() -> None:
    late = {
        name
        for name, function in functions()
        for node in ast.walk(function)
        if any(module.split(".")[0] == "codefathom" for module in imported(node))
    }
    files = {name.partition(":")[0] for name in late}
    assert {name for name in files if name not in MAY_IMPORT_INSIDE and not name.startswith("cli/")} == set()


def run_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """All of a tree but what is there for type checkers only."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and ast.unparse(child.test) == "TYPE_CHECKING":
            continue
        yield child
        yield from run_nodes(child)


def module_of(path: Path) -> str:
    return ".".join(path.relative_to(SOURCE.parent).with_suffix("").parts).removesuffix(".__init__")


MODULES = {module_of(path): path for path in FILES}


def reached(node: ast.AST) -> Iterator[str]:
    """The modules of ours that an import names, or the library."""
    for name in imported(node):
        if name.split(".")[0] != "codefathom":
            yield name.split(".")[0]
        elif isinstance(node, ast.ImportFrom):
            yield from (inner if (inner := f"{name}.{alias.name}") in MODULES else name for alias in node.names)
        else:
            yield name


@cache
def reaches(module: str) -> set[str]:
    """What a module of ours comes to in one step: modules, libraries, and functions that are not of values alone."""
    nodes = list(run_nodes(tree(MODULES[module])))
    called = [node.func for node in nodes if isinstance(node, ast.Call)]
    calls = {function.id for function in called if isinstance(function, ast.Name)} & NOT_OF_VALUES
    calls |= {function.attr for function in called if isinstance(function, ast.Attribute)} & CLOCKS
    return {name for node in nodes for name in reached(node)} | {f"{name}()" for name in calls}


def world_of(module: str) -> set[str]:
    """Return the ways by which a module comes to something that is not of values alone."""
    found, ways = set(), {module: module}
    left = [module]
    while left:
        at = left.pop()
        own = {name for name in MODULES if name.startswith(f"{at}.")} if at == IMPORTS_ITS_OWN else set()
        for name in (reaches(at) - ({"importlib"} if own else set()) | own) - ways.keys() - {HAS_A_LIMIT, "codefathom"}:
            ways[name] = f"{ways[at]} > {name}"
            if name in MODULES:
                left.append(name)
            elif name not in OF_VALUES:
                found.add(ways[name])
    return found


PURE = [name for name, path in MODULES.items() if re.search(r"\bPure\b", ast.get_docstring(tree(path)) or "")]


def test_there_are_pure_modules() -> None:
    assert len(PURE) > 30


@pytest.mark.parametrize("name", PURE)
def test_pure_modules_do_not_touch_the_world(name: str) -> None:
    assert world_of(name) == set()


@pytest.mark.parametrize(
    ("name", "way"),
    [
        ("text.expressions", "time"),
        ("search.question.ranking_query", "search.question.translate > os"),
        ("search.question.ranking_query", "search.question.translate > open()"),
    ],
)
def test_what_is_not_pure_is_seen_through_other_modules(name: str, way: str) -> None:
    way = " > ".join(part if part in {"os", "time", "open()"} else f"codefathom.{part}" for part in way.split(" > "))
    assert any(found.endswith(way) for found in world_of(f"codefathom.{name}")), world_of(f"codefathom.{name}")


def test_libraries_are_imported_by_their_own_adapter_only() -> None:
    uses: dict[str, set[str]] = {}
    for path in FILES:
        for module in (module.split(".")[0] for node in ast.walk(tree(path)) for module in imported(node)):
            if module not in sys.stdlib_module_names and module != "codefathom":
                uses.setdefault(module, set()).add(name_of(path))
    of_server = {name: uses.pop(name, set()) for name in OF_THE_SERVER}
    assert {path for paths in of_server.values() for path in paths if not path.startswith("server/")} == set()
    of_editors = {name: uses.pop(name, set()) for name in OF_EDITORS}
    assert {path for paths in of_editors.values() for path in paths if not path.startswith("lsp/")} == set()
    of_clusters = {name: uses.pop(name, set()) for name in OF_CLUSTERS}
    assert set().union(*of_clusters.values()) == {"fleet/cluster/ray_cluster.py", "fleet/object_store.py"}
    assert uses == LIBRARIES


def test_every_dependency_is_used() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    names = (re.split(r"[^\w-]", requirement)[0] for requirement in project["dependencies"])
    assert {name.replace("-", "_") for name in names} == LIBRARIES.keys()


PASSES_ON = {"project/location.py", "system/children.py", "system/isolation.py"}


def test_nothing_below_the_engine_reads_the_environment() -> None:
    # config/configuration.py is handed the variables by project/location.py; system/children.py passes them on.
    reads = {
        name_of(path)
        for path in FILES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and node.attr in {"environ", "getenv"}
    }
    assert {name for name in reads if name not in PASSES_ON and not name.startswith("cli/")} == set()


# `system/children.py` keeps what lies in a repository out of a process, and ends programs with this one.
STARTS = {"system/children.py"}
STARTERS = {"Popen", "run", "call", "check_call", "check_output", "getoutput", "getstatusoutput"}


def test_one_place_starts_processes() -> None:
    starts = set()
    for path in FILES:
        for node in ast.walk(tree(path)):
            if {"multiprocessing", "pty"} & {module.split(".")[0] for module in imported(node)}:
                starts.add(name_of(path))
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                of_os = node.value.id == "os" and node.attr.startswith(
                    ("exec", "spawn", "posix_spawn", "system", "popen", "fork")
                )
                of_loop = node.value.id == "asyncio" and node.attr.startswith("create_subprocess")
                if (
                    of_os
                    or of_loop
                    or (node.value.id == "subprocess" and node.attr in STARTERS and not is_hint(path, node))
                ):
                    starts.add(name_of(path))
    assert starts == STARTS


def is_hint(path: Path, node: ast.Attribute) -> bool:
    """Whether `subprocess.Popen[bytes]` is meant, the type."""
    return any(isinstance(outer, ast.Subscript) and outer.value is node for outer in ast.walk(tree(path)))


# The folders of the index, of the user's cache and of the server may hold what a stranger has put there: whoever works
# in them does so through stores/folder.py, and opens SQLite through stores/sqlite.py.
IN_SUCH_FOLDERS = (
    "stores/",
    "server/",
    "project/location.py",
    "project/current_index.py",
    "project/opening.py",
    "project/asking.py",
    "project/saved_index.py",
    "project/upkeep.py",
    "project/upgrading.py",
    "project/exchange.py",
    "index/purposes.py",
    "project/inspection.py",
)
MAY_OPEN_FILES = {
    "stores/folder.py",
    "stores/sqlite.py",
    "stores/vectors/qdrant_folder.py",  # a folder that the user has named, for the client of Qdrant
    "server/http/page.py",  # the page that came with the package
    "server/tls.py",  # the files with the certificate and the key that the operator has named
    "server/projects/folder_names.py",  # the folders that an administrator types: their names alone
    "server/jobs/job_process.py",  # a file without a name, for what a process says
}
OF_FILES = {
    *("open", "replace", "rename", "renames", "remove", "unlink", "mkdir", "makedirs", "rmdir", "removedirs", "link"),
    *("symlink", "truncate", "chmod", "chown", "utime", "listdir", "scandir", "walk", "mkfifo"),
}
OF_PATHS = {"read_text", "read_bytes", "write_text", "write_bytes", "touch", "iterdir", "rglob"}


def works_on_files(node: ast.Call) -> bool:
    called = node.func
    if isinstance(called, ast.Name):
        return called.id == "open"
    if not isinstance(called, ast.Attribute):
        return False
    owner = called.value.id if isinstance(called.value, ast.Name) else ""
    return (
        called.attr in OF_PATHS
        or (owner == "os" and called.attr in OF_FILES)
        or (owner == "shutil" and called.attr != "disk_usage")
        or owner in {"io", "tempfile"}
        or ((owner, called.attr) == ("sqlite3", "connect") and ast.unparse(node.args[0]) != "':memory:'")
    )


def test_only_one_module_works_on_files_of_folders_that_strangers_may_fill() -> None:
    found = {
        f"{name_of(path)}:{node.lineno}"
        for path in FILES
        if name_of(path).startswith(IN_SUCH_FOLDERS) and name_of(path) not in MAY_OPEN_FILES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and works_on_files(node)
    }
    assert found == set()


def test_core_is_synchronous() -> None:
    coroutines = [name for name, node in functions() if isinstance(node, ast.AsyncFunctionDef)]
    assert [name for name in coroutines if not name.startswith(("server/", "lsp/"))] == []


def test_only_faces_print() -> None:
    prints = {
        name_of(path)
        for path in FILES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "print"
    }
    assert {name for name in prints if not name.startswith("cli/")} == set()


def test_one_module_writes_to_the_streams() -> None:
    # What it writes cannot steer a terminal. `__init__.py` opens streams, and gives them to it.
    uses = {
        name_of(path)
        for path in FILES
        for node in ast.walk(tree(path))
        if isinstance(node, ast.Attribute) and node.attr in {"stdout", "stderr"} and isinstance(node.value, ast.Name)
        if node.value.id == "sys"
    }
    processes = {
        "index/workers.py",
        "server/searches/search_child.py",
        "server/jobs/job_child.py",
    }  # which speak to their parents
    # The last one passes lines of JSON on, which another process of ours has made.
    readers = {"cli/commands/chat_command.py", "cli/commands/mcp_command.py", "cli/commands/plain_mcp.py"}
    readers.add("cli/commands/lsp_command.py")  # an editor reads JSON from it
    assert uses - processes == {"cli/__init__.py", "cli/display/output.py", *readers}


def test_public_names() -> None:
    assert sorted(codefathom.__all__) == ["AnswerRequest", "Engine", "Federation", "__version__"]
    assert codefathom.Engine.__name__ == "Engine"
    assert codefathom.AnswerRequest.__name__ == "AnswerRequest"


def test_no_path_of_a_machine_is_written_down() -> None:
    # Put together here, so that this file does not hold what it looks for.
    machine = re.compile(r"(?<![\w.\-])/(?:" + "|".join(("work", "root")) + ")/")
    try:
        listed = subprocess.run(
            ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True, timeout=LONG_S
        ).stdout
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("not a git checkout")
    found = []
    for name in filter(None, listed.decode().split("\0")):
        path = ROOT / name
        content = path.read_bytes() if path.is_file() else b""
        if b"\0" not in content and machine.search(content.decode("utf-8", "replace")):
            found.append(name)
    assert found == []


# ---- rooms: what each offers to others, and that they stand one on the other

# Rooms that others enter by these modules alone: the rest of a room may be changed without a look at anything outside.
# In other rooms each module is for all that stand above it, but for those whose name begins with "_".
DOORS = {
    "agent": {"agent.loop", "agent.report", "agent.streamed", "agent.tools"},
    "cli": {"cli"},
    "hosts": {
        "hosts.grep_offer",
        "hosts.hooks",
        "hosts.host_list",
        "hosts.instructions",
        "hosts.plugin_files",
        "hosts.setup_changes",
    },
    "parse": {"parse", "parse.grammars", "parse.llm", "parse.text"},
    "remote": {
        *("remote.chat_models", "remote.embedding_model", "remote.keyring_keys", "remote.on_disk"),
        *("remote.reranking_model", "remote.vector_stores"),
    },
    "server": {
        *("server.access.audit_list", "server.access.token_table", "server.http.auth", "server.http.user_roles"),
        *("server.readiness", "server.run", "server.server_backup", "server.server_config"),
    },
    "testing": {"testing"},
}
Imports = dict[str, set[str]]


def imports() -> Imports:
    """Each module of ours with the modules of ours that it imports anywhere, also for type checkers only."""
    return {
        name: {module for node in ast.walk(tree(path)) for module in reached(node) if module in MODULES}
        for name, path in MODULES.items()
    }


def room_of(module: str) -> str:
    return module.split(".")[1] if "." in module else ""


def past_the_doors(imported_by: Imports, doors: dict[str, set[str]]) -> set[str]:
    """The imports from outside of a room that go past its doors."""
    return {
        f"{importer} > {module}"
        for importer, modules in imported_by.items()
        for module in modules
        if room_of(module) in doors and room_of(importer) != room_of(module)
        if module.removeprefix("codefathom.") not in doors[room_of(module)]
    }


def private_from_outside(imported_by: Imports) -> set[str]:
    """The imports of what is private to a folder, by a module that does not lie in that folder or below it."""
    return {
        f"{importer} > {module}"
        for importer, modules in imported_by.items()
        for module in modules
        for private in re.finditer(r"(?<=\.)_", module)
        if not importer.startswith(module[: private.start()])
    }


def circles(imported_by: Imports) -> set[str]:
    """The modules and folders of each folder that import each other, directly or through others beside them."""
    beside: dict[str, set[str]] = {}
    for importer, modules in imported_by.items():
        for one, other in (beside_each_other(importer, module) for module in modules):
            if one != other:
                beside.setdefault(one, set()).add(other)
    return {one for one, others in beside.items() if one in reachable(others, beside)}


def beside_each_other(one: str, other: str) -> tuple[str, str]:
    """The names of two modules up to where they part: `a.b.c` and `a.d` are `a.b` and `a.d`."""
    parts, others = one.split("."), other.split(".")
    n_shared = next((n for n, (a, b) in enumerate(zip(parts, others, strict=False)) if a != b), None)
    # A package is above its own modules, and beside none of them.
    return ("", "") if n_shared is None else (".".join(parts[: n_shared + 1]), ".".join(others[: n_shared + 1]))


def reachable(start: set[str], edges: dict[str, set[str]]) -> set[str]:
    seen, left = set(start), list(start)
    while left:
        new = edges.get(left.pop(), set()) - seen
        seen |= new
        left += new
    return seen


def test_a_room_is_entered_by_its_doors() -> None:
    assert past_the_doors(imports(), DOORS) == set()


def test_each_door_is_used() -> None:
    entered = {
        module.removeprefix("codefathom.")
        for importer, modules in imports().items()
        for module in modules
        if room_of(importer) != room_of(module)
    }
    # The tests of those who write a store or a model of their own enter by this one.
    assert {door for doors in DOORS.values() for door in doors} - entered <= {"testing"}


def test_what_begins_with_an_underscore_is_private() -> None:
    assert private_from_outside(imports()) == set()
    names = {
        f"{name} > {node.module}.{alias.name}"
        for name, path in MODULES.items()
        for node in ast.walk(tree(path))
        if isinstance(node, ast.ImportFrom) and (node.module or "") in MODULES
        for alias in node.names
        if alias.name.startswith("_") and not alias.name.endswith("__")
        if f"{node.module}.{alias.name}" not in MODULES
    }
    assert names == set()


def test_folders_do_not_import_each_other_in_circles() -> None:
    assert circles(imports()) == set()


@pytest.mark.parametrize(
    ("importer", "module", "is_a_fault"),
    [
        ("search.pipeline", "parse", False),
        ("search.pipeline", "parse.outline", True),
        ("parse.text", "parse.outline", False),
        ("engine", "parse.outline", True),
    ],
)
def test_what_goes_past_a_door(importer: str, module: str, is_a_fault: bool) -> None:
    doors = {"parse": {"parse"}}
    assert bool(past_the_doors({f"codefathom.{importer}": {f"codefathom.{module}"}}, doors)) is is_a_fault


@pytest.mark.parametrize(
    ("importer", "module", "is_a_fault"),
    [
        ("search.pipeline", "search._levels", False),
        ("search.ranking.rank", "search._levels", False),
        ("search.pipeline", "search.ranking._rows", True),
        ("engine", "search._levels", True),
        ("searched", "search._levels", True),
        ("search.pipeline", "search._inner.rows", False),
        ("index.plan", "search._inner.rows", True),
        ("index.plan", "search.inner_rows", False),
    ],
)
def test_what_is_private_to_a_folder(importer: str, module: str, is_a_fault: bool) -> None:
    assert bool(private_from_outside({f"codefathom.{importer}": {f"codefathom.{module}"}})) is is_a_fault


@pytest.mark.parametrize(
    ("imported_by", "members"),
    [
        ({"a.b": {"a.c"}, "a.c": {"a.b"}}, {"a.b", "a.c"}),
        ({"a.b.x": {"a.c"}, "a.c": {"a.b.y"}}, {"a.b", "a.c"}),
        ({"a.b.x": {"a.c"}, "a.c": {"a.d.y"}, "a.d.z": {"a.b.w"}}, {"a.b", "a.c", "a.d"}),
        ({"a.b.x": {"a.b.y"}, "a.b.y": {"a.b.x"}}, {"a.b.x", "a.b.y"}),
        ({"a.b.x": {"a.b", "a.c"}, "a.b": {"a.b.x"}}, set()),
        ({"a.b.x": {"a.b.y", "a.c"}, "a.b.y": {"a.c"}, "a.c": {"a.d"}}, set()),
    ],
)
def test_what_is_a_circle(imported_by: Imports, members: set[str]) -> None:
    assert circles(imported_by) == members


# ---- the map of the rooms

MAP = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")


def test_no_two_modules_have_one_name() -> None:
    names = Counter(path.name for path in FILES if path.name not in {"__init__.py", "base.py"})
    assert {name: n for name, n in names.items() if n > 1} == {}


def rooms_of_the_map() -> list[str]:
    table = MAP.partition("## Code map")[2].partition("| to add |")[0]
    return [room.removesuffix(".py") for room in re.findall(r"^\| `([\w.]+)` \|", table, re.MULTILINE)]


def layers() -> dict[str, int]:
    """Each room with the number of its layer, from above."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["tool"]["importlinter"][
        "contracts"
    ]
    of_the_package = next(one["layers"] for one in contracts if one.get("containers") == ["codefathom"])
    return {name: number for number, line in enumerate(of_the_package) for name in re.findall(r"\w+", line)}


def test_the_map_has_every_room_in_the_order_of_imports() -> None:
    rooms = rooms_of_the_map()
    folders = {path.relative_to(SOURCE).parts[0] for path in FILES if path.parent != SOURCE}
    modules = {path.stem for path in FILES if path.parent == SOURCE and path.name != "__init__.py"}
    assert set(rooms) == folders | modules
    numbers = [layers()[room] for room in rooms]
    assert numbers == sorted(numbers)


def test_what_the_map_names_is_there() -> None:
    named = {name for name in re.findall(r"`([\w/.-]+\.(?:py|scm|md|tsx))`", MAP) if "LANGUAGE" not in name}
    folders = ("src", "tests", "docs", "training", "web/src")
    everything = {path.relative_to(ROOT).as_posix() for folder in folders for path in (ROOT / folder).rglob("*.*")}
    assert {name for name in named if not any(f"/{path}".endswith(f"/{name}") for path in everything)} == set()


def test_no_two_public_classes_have_one_name() -> None:
    classes = Counter(
        node.name
        for path in FILES
        for node in tree(path).body
        if isinstance(node, ast.ClassDef) and not node.name.startswith("_")
    )
    assert {name: n for name, n in classes.items() if n > 1} == {}
