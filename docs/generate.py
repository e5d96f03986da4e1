"""Write cli.md, settings.md, languages.md and http-api.md from what the program uses: `python docs/generate.py`."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from codefathom.cli.aliases import LEGACY_OPTIONS
from codefathom.cli.display.render import as_toml
from codefathom.cli.help import explanation, spelling, usage
from codefathom.cli.options import COMMANDS, COMMON_OPTIONS, Command, Option
from codefathom.config.configuration import ALIASES
from codefathom.config.project_file import permission_of
from codefathom.config.settings import DeclaredSetting, Settings, declared_settings
from codefathom.facts.reasons import ENGLISH, MARKS
from codefathom.parse.grammars import languages, load
from codefathom.search.graph.imports import has_custom
from codefathom.server.app import create_app
from codefathom.server.server_config import ServerConfig
from codefathom.source.languages import CODE, extensions_of
from codefathom.types import SYMBOL_KINDS

HERE = Path(__file__).parent
GENERATED = "<!-- Written by `python docs/generate.py`; a test fails when it is stale. -->"

CLI_INTRODUCTION = """\
# The command line

`fathom COMMAND [options]`. Answers go to stdout, everything else to stderr.

| exit code | meaning |
| --- | --- |
| 0 | success; a search has results |
| 1 | a search has no results; `doctor` has found a problem |
| 2 | error: a wrong argument, setting or filter, a project that cannot be read, an indexing run that paused |
| 130 | interrupted with Ctrl-C |

A command works on the project around the current folder. The root of the project is the nearest folder, from the
current one upwards, that contains `.fathom`, `fathom.toml` or `.git`; if there is none, it is the current folder.
Paths in results are relative to the root. A path in an option is first looked up relative to the current folder, then
relative to the root. `NO_COLOR=1` switches colours off, `FATHOM_DEBUG=1` shows tracebacks.
"""

LEGACY_INTRODUCTION = """\
## Options without a command

These options are accepted too, so that existing scripts continue to work:

```
fathom --build-index --source-dir ./my-project
fathom --rag --source-dir ./my-project "how are users authenticated?"
fathom --rag --filter-level 2 --max-files 5 "everything about the database"
fathom --query-index "@@authenticate" --source-dir ./my-project
fathom --rag --contexts-only --source-dir ./my-project '{"query": "database settings", "only_contexts": true}'
```

To pass the output to another program, use a pipe; put your own program in the place of `model-tool`:

```
fathom --rag "a shell script that connects to the database" --source-dir ./my-project | model-tool
```

`--rag` answers as `fathom ask` does. Without a language model it prints the sources that the search returns; a
message on stderr says that no model has selected or judged them.

Some defaults are not those of the pipelines that brought these options. Scripts that need the other value say so:

| option | default here | often elsewhere | why |
| --- | --- | --- | --- |
| `--duckdb-vector-dim` | 0: as long as the model makes them | 1024 | a shorter vector means less; none is made longer |
| `--duckdb-query-top-k` | 100 | 200 or 50 | candidates of each ranking; more are slower |
| `--duckdb-query-similarity` | 0: no limit | 0.6 or 0.7 | what it means depends on the model |
| `--filter-level` | -1: 1 with a language model, else 0 | 1 | without a model there is nobody to judge |
| `--max-files` | 10 | 10, or -1 for no limit | a limit is always needed: up to 10000 |

The names with `duckdb` are kept for scripts; they apply to every store of vectors ([stores.md](stores.md)).
"""

SETTINGS_INTRODUCTION = """\
# Settings

A setting can be set in several places. If it is set in more than one, the place further down in this list wins:

1. the default below,
2. your own file, `~/.config/codefathom/fathom.toml` (in the folder `XDG_CONFIG_HOME` if that is set; on Windows in
   `APPDATA`; `FATHOM_CONFIG` names another file),
3. `fathom.toml` in the project,
4. the environment: `FATHOM_SEARCH__LIMIT=20` sets `search.limit`,
5. arguments: options such as `--limit`, or `--set search.limit=20` for any setting.

`fathom config show` prints every value and where it comes from. An unknown key or a wrong value is an error.

The file of a project comes with its repository, and anybody may have written it. It can therefore adapt settings to
the project, and it can make limits stricter than yours or the defaults, but never less strict: the tables say what it
may do with each setting. A number that means "no limit" counts as the largest. A value that the file may not set is
ignored, with a message on stderr and in `fathom config show`; a value that would send text to another place is an
error. The file is read only if it is a regular file of at most 250 kB, never through a link. A file that
`FATHOM_CONFIG` names is your own. An index needs a folder for itself: `index.dir` must name a folder that is empty or
does not exist yet.

```toml
# fathom.toml
[source]
required_exts = [".py", ".md"]

[search]
limit = 20
```

Three environment variables are not settings: `FATHOM_INDEX_DIR` is one folder for the indexes of all projects,
`FATHOM_CACHE_DIR` is the folder for the cache that they share, and `FATHOM_STATE_DIR` is the folder in which fathom
records the indexes that you have made or checked. Any other index, such as one that came with a clone, is compared with
the files before it is used.
"""


def cli_page() -> str:
    """Return docs/cli.md."""
    commands = "\n".join(_command(command) for command in COMMANDS)
    common = "## Every command\n\n" + "\n".join(_option_table(COMMON_OPTIONS)) + "\n"
    legacy = LEGACY_INTRODUCTION + "\n" + "\n".join(_option_table(LEGACY_OPTIONS[1:])) + "\n"
    return f"{GENERATED}\n{CLI_INTRODUCTION}\n{commands}\n{common}\n{legacy}"


def _command(command: Command) -> str:
    lines = [f"## fathom {command.name}", "", f"{command.summary[0].upper()}{command.summary[1:]}.", ""]
    lines += ["```", *(command.examples or (usage(command),)), "```", ""]
    if command.operands or command.options:
        lines += [*_option_table((*command.operands, *command.options), command), ""]
    return "\n".join(lines)


def _option_table(options: tuple[Option, ...], command: Command | None = None) -> Iterator[str]:
    yield "| option | what it does | setting |"
    yield "| --- | --- | --- |"
    for option in options:
        setting = f"`{option.setting}`" if option.setting else ""
        yield f"| `{_cell(spelling(option))}` | {_cell(explanation(option, command))} | {setting} |"


def settings_page() -> str:
    """Return docs/settings.md."""
    older: dict[str, list[str]] = {}
    for name, key in ALIASES.items():
        older.setdefault(key, []).append(name)
    sections = [_section(name, list(group), older) for name, group in groupby(declared_settings(), key=_section_of)]
    return f"{GENERATED}\n{SETTINGS_INTRODUCTION}\n" + "\n".join(sections)


def _section_of(setting: DeclaredSetting) -> str:
    return setting.key.partition(".")[0]


def _section(name: str, settings: list[DeclaredSetting], older: dict[str, list[str]]) -> str:
    summary = (type(getattr(Settings(), name)).__doc__ or "").strip()
    lines = [
        f"## {name}",
        "",
        summary,
        "",
        "| setting | default | meaning | in a project's file | also called |",
        "| --- | --- | --- | --- | --- |",
    ]
    for setting in settings:
        names = ", ".join(f"`{alias}`" for alias in older.get(setting.key, ()))
        lines.append(
            f"| `{setting.key}` | `{as_toml(setting.default)}` | {_cell(setting.rule.help)}{_range(setting)} | "
            f"{_of_project(setting)} | {names} |"
        )
    return "\n".join(lines) + "\n"


def _of_project(setting: DeclaredSetting) -> str:
    permission = permission_of(setting)
    is_switch = isinstance(setting.default, bool)
    text = {
        "free": "any value",
        "lower": "only off" if is_switch else "only lower",
        "higher": "only higher",
        "inside": "a folder in the project",
        "closed": "no",
    }[permission.direction]
    return text + "".join(f", not `{value}`" for value in permission.never)


def _range(setting: DeclaredSetting) -> str:
    rule = setting.rule
    if rule.choices:
        return f" One of {', '.join(f'`{choice}`' for choice in rule.choices)}."
    if rule.low is None:
        return ""
    return f" At least {rule.low}." if rule.high is None else f" From {rule.low} to {rule.high}."


LANGUAGES_INTRODUCTION = """\
# Languages

Codefathom reads every text file. For the languages in this table it also knows the syntax: a test compares the table
with the queries in `src/codefathom/parse/queries`.

- **symbols**: the kinds of definitions that `fathom symbols` and `@@name` find. A function in a class counts as a
  method, in Objective-C a variable that is `const` as a constant.
- **imports**: what a file imports is known; "files" means that `fathom related` also finds the imported files of the
  project.
- **references**: the uses that `fathom related @@name` finds. A parameter or another local value hides
  what has the same name outside in Python, JavaScript, TypeScript, Vue, Svelte, Go, Rust, Java, Kotlin, Swift, C#,
  Ruby, C, C++ and Lua.
- **cuts**: a file is divided between its definitions, not in the middle of one.

A file with errors is read as far as possible. A language is chosen by the name of the file, by its first line, and for
`.h`, `.m`, `.pl`, `.t`, `.r` and `.cls` by its text. `fathom doctor` lists the languages whose grammars can be loaded.
"""

LANGUAGES_END = """\
Markdown and reStructuredText have sections and links. With a language model, `parse.chain` with `llm` finds symbols in
other languages, too.
"""

# What a reader would expect of a language and does not get.
MISSING = {
    "clojure": "functions that macros of a project define",
    "erlang": "types in specifications count as calls",
    "fortran": "an array element looks like a call and counts as one",
    "groovy": "some constructors with parameters; the values of an enum",
    "hcl": "blocks inside other blocks",
    "julia": "what macros define",
    "objc": "a method is known by the first part of its selector; C++ in `.mm` files is read in part",
    "perl": "about one sub in ten, in code with signatures, formats or unusual quotes",
    "powershell": "the values of an enum",
    "r": "what is assigned with `->` or `assign`; types",
    "sql": "procedures, columns and the bodies of PL/SQL",
    "svelte": "calls in the markup; `$:` statements",
    "vue": "calls in the markup",
}


def languages_page() -> str:
    """Return docs/languages.md: what each query captures."""
    columns = ("language", "endings", "symbols", "imports", "references", "cuts", "missing")
    rows = [f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}", *map(_language, languages())]
    others = sorted(CODE - set(languages()))
    closing = "Code in these languages is found by its words and its meaning, and is cut at blank lines: "
    return "\n".join([GENERATED, LANGUAGES_INTRODUCTION, *rows, "", f"{closing}{', '.join(others)}.", LANGUAGES_END])


def _language(name: str) -> str:
    kinds, captures = _captures(name)
    symbols = ", ".join(kind for kind in SYMBOL_KINDS if kind in kinds)
    imports = "" if not captures & {"reference.import", "import.module"} else "files" if has_custom(name) else "names"
    uses = ", ".join(use for use in ("calls", "types") if f"reference.{use[:-1]}" in captures)
    endings = " ".join(f"`.{extension}`" for extension in extensions_of(name))
    return f"| {name} | {endings} | {symbols} | {imports or '–'} | {uses or '–'} | yes | {MISSING.get(name, '')} |"


def _captures(name: str) -> tuple[set[str], set[str]]:
    """Return the kinds and the other captures of a query, with those of the languages that it embeds."""
    grammar = load(name)
    kinds = set(grammar.kinds)
    captures = {grammar.names.capture_name(index) for index in range(grammar.names.capture_count)}
    for embedded in [capture.removeprefix("embedded.") for capture in captures if capture.startswith("embedded.")]:
        inner_kinds, inner = _captures(embedded)
        kinds |= inner_kinds
        captures |= inner
    return kinds, captures


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


API_INTRODUCTION = """\
# The HTTP interface

`fathom serve` answers on `http://127.0.0.1:8900`; it needs the extra `server`: `pip install 'codefathom[server]'`. The
same routes answer under `/api`. `/openapi.json` describes them for programs; the examples below are made from it.

```
fathom serve ~/code/shop
curl -s localhost:8900/search -H 'content-type: application/json' -d '{"query": "where are orders priced"}'
```

Access: if `server.tokens` is empty, the server listens on this machine only and requires no token. Otherwise every
request needs the header `Authorization: Bearer TOKEN`, except requests to `/health` and `/version`; a token can be
limited to some projects. `fathom serve --new-token NAME` makes a token. The host name of a request must be a name of
the server (`server.hosts`), and a page of another server can send requests only if `server.cors` lists it.

If many searches arrive at the same time, they wait, and the clients take turns (`server.search_processes`,
`server.waiting_searches`). A search that takes longer than `server.search_timeout_s` is stopped together with its
process; on Windows only a search that still waits is stopped. [Measurements under load](benchmarks-serving.md).

Coding agents ask at `/mcp`, over the Model Context Protocol (streamable HTTP); it needs
`pip install 'codefathom[mcp]'`. Its tools are those of `fathom mcp`, with the same tokens and limits as all routes.
[The guide](guide.md#as-tools-of-agents-over-http) shows the settings of an agent.

With `pip install 'codefathom[telemetry]'`, the server makes OpenTelemetry spans for requests, the stages of searches
and answers, calls of models, and jobs. Start it with `opentelemetry-instrument fathom serve`, for example.

An error is `application/problem+json`: `code` is for programs, `detail` says what failed, and `hint` says what to do.
Below `/v1`, an error has the form of OpenAI instead: `error` with `message`, `type` and `code`.

| status | code | meaning |
| --- | --- | --- |
| 400 | `bad_request`, `usage` | the question, path, filter or setting is not valid |
| 401, 403 | `unauthorized`, `forbidden` | the token is missing or not valid for this; an unknown host or page |
| 404 | `not_found`, `source` | no such route, project, job, file or conversation |
| 408, 413, 429 | `timeout`, `too_large`, `too_many_requests` | a limit of `server.*`; 429 has `Retry-After` |
| 409 | `not_indexed`, `conflict`, `locked`, `mismatch`, `moved`, `settings` | not possible in the present state |
| 422 | `invalid` | the body or a parameter does not have the expected form |
| 501 | `not_installed` | a library is missing; `hint` has the command that installs it |
| 502 | `provider` | a model failed |
| 503 | `index`, `busy` | the index cannot be read or written; too many requests at the moment |
| 503 | `worker_died` | the process that worked on the request has died; another one answers the next request |
| 504 | `too_slow` | the search takes longer than its time limit |

Names in request bodies may be written in snake_case and in camelCase. `/openapi.json` has the meaning and the limits of
each field. `top_k` of `/ask` and `/ask/stream` is the number of candidates that are ranked, and the largest number of
sources; without it, 100 are ranked (`rerank.candidates`) and 8 are sources (`rerank.top_n`). `/file` and `/symbols`
also take `file_path`, `/file-tree` and `/files` also `root_path`.

## Events

A stream is `text/event-stream`. Each event has an `id`, and `data` with one line of JSON: `{"type": …, "data": …}`.
Other types than these can be added later, so a client ignores those that it does not know. A client whose connection
was cut goes on with the header `Last-Event-ID`; lines that begin with `:` keep the connection open.

Events of an answer (`/ask/stream`, `/ask/agent`, `/answers/{answer_id}/events`):

| type | data |
| --- | --- |
| `status` | a `phase`, such as `searching`, `answered` or `stopped`; the first has the `answer_id` |
| `sources` | once: a list, each with `path`, `module` (its first folder), `score`, lines and reason |
| `step` | of an agent, with a `type` of its own: `thinking`, `tool_call`, `tool_result`, `error`, `final_answer` |
| `content` | the next piece of the text |
| `usage` | tokens, cost, and the model |
| `error` | `code`, `detail`, `hint`; what was written before stays |
| `done` | the last one, without data |

Events of a job (`POST /projects/{project_id}/index`, `/jobs/{job_id}/events`), which is a run of the indexer, or with
`move_to` a move of the vectors to another store (`POST /projects/{project_id}/store/move`):

| type | data |
| --- | --- |
| `queued`, `starting` | the `job_id`; then the state of the work, as in all events up to `saving` |
| `scan_start` | the files are being listed |
| `scan_complete` | `file_count`, the number of files to index, and `n_files`, that of all files |
| `indexing` | `current_file`, `current`, `total`, `percent`, `estimated_remaining_seconds` and more |
| `file_error` | a file that cannot be indexed, with the reason; the others go on |
| `saving` | the search indexes are being written |
| `move`, `moved` | the number of vectors that are copied; at the end the comparison of the store with the index |
| `complete` | `file_count`, `chunk_count`, `duration_seconds`, `error_count`, and the whole `report` |
| `cancelled`, `error` | the job has ended before |
| `status` | the state of the job, sent first to a client that comes later |
| `done` | the last one: `job_id`, `state` |

The job goes on when a client leaves, and another one can follow it.
"""


def api_page() -> str:
    """Return docs/http-api.md."""
    described = _openapi()
    schemas = described["components"]["schemas"]
    by_tag: dict[str, list[str]] = {}
    for path, methods in described["paths"].items():
        for method, operation in methods.items():
            by_tag.setdefault(operation["tags"][0], []).append(
                _operation(f"{method.upper()} {path}", operation, schemas)
            )
    parts = [f"## {tag.capitalize()}\n\n" + "\n".join(operations) for tag, operations in by_tag.items()]
    return f"{GENERATED}\n{API_INTRODUCTION}\n" + "\n".join(parts)


def _openapi() -> dict[str, Any]:
    with TemporaryDirectory() as folder:
        return create_app(ServerConfig(data_dir=folder, allowed_roots=())).openapi()


def _operation(name: str, operation: dict[str, Any], schemas: dict[str, Any]) -> str:
    lines = [f"### {name}", "", f"{operation['summary']}.", ""]
    parameters = operation.get("parameters", [])
    if parameters:
        lines += ["| parameter | example | meaning |", "| --- | --- | --- |"]
        lines += [_parameter(parameter, schemas) for parameter in parameters]
        lines += [""]
    for content in operation.get("requestBody", {}).get("content", {}).values():
        lines += ["Request body:", "", *_json(content, schemas), ""]
    for status, answer in operation["responses"].items():
        for kind, content in answer.get("content", {}).items() if status.startswith("2") else ():
            lines += [f"Response {status}, `{kind}`:", "", *_json(content, schemas), ""]
        if status.startswith("2") and not answer.get("content"):
            lines += [f"Response {status}, without a body.", ""]
    return "\n".join(lines)


def _parameter(parameter: dict[str, Any], schemas: dict[str, Any]) -> str:
    schema = parameter["schema"]
    example = json.dumps(_example({"examples": parameter.get("examples"), **schema}, schemas), ensure_ascii=False)
    text = schema.get("description", "") or parameter.get("description", "")
    need = "required" if parameter.get("required") else f"default `{json.dumps(schema.get('default'))}`"
    return f"| `{parameter['name']}` | `{_cell(example)}` | {need}{'; ' + _cell(text) if text else ''} |"


def _json(content: dict[str, Any], schemas: dict[str, Any]) -> Iterator[str]:
    example = content.get("example", _example(content.get("schema", {}), schemas))
    yield "```" if isinstance(example, str) else "```json"
    yield example.rstrip() if isinstance(example, str) else json.dumps(example, ensure_ascii=False, indent=2)
    yield "```"


def _example(schema: dict[str, Any], schemas: dict[str, Any]) -> Any:
    """Return a value of this form: the example that it names, else one made of those of its parts."""
    if schema.get("examples"):
        return schema["examples"][0]
    if "$ref" in schema:
        return _example(schemas[schema["$ref"].rpartition("/")[2]], schemas)
    if "anyOf" in schema:
        return _example(schema["anyOf"][0], schemas)
    if schema.get("type") == "array":
        return [_example(schema["items"], schemas)]
    if "properties" in schema:
        return {name: _example(part, schemas) for name, part in schema["properties"].items()}
    return schema.get("default", "")


def api_description() -> str:
    """Return web/openapi.json, from which the page has its types."""
    return json.dumps(_openapi(), ensure_ascii=False, indent=1) + "\n"


def kinds_module() -> str:
    """Return web/src/i18n/kinds.ts: the kinds of notes, with the English words that the translations must fit."""
    rows = "".join(f"  {kind}: {json.dumps(words, ensure_ascii=False)},\n" for kind, words in ENGLISH.items())
    return f"""\
// Written by `python docs/generate.py` from codefathom/facts/reasons.py; a test fails when it is stale.

/** The English words of each kind of note. */
export const ENGLISH = {{
{rows}}} as const;

export type Kind = keyof typeof ENGLISH;

/** The kinds that the server writes into the text of an answer, in exactly these English words. */
export const MARKS: readonly Kind[] = {json.dumps(MARKS)};
"""


PAGES = {
    HERE / "cli.md": cli_page,
    HERE / "settings.md": settings_page,
    HERE / "languages.md": languages_page,
    HERE / "http-api.md": api_page,
    HERE.parent / "web" / "openapi.json": api_description,
    HERE.parent / "web" / "src" / "i18n" / "kinds.ts": kinds_module,
}


def main() -> int:
    """Write the pages, or with --check only say which are stale."""
    stale = [path for path, page in PAGES.items() if not path.exists() or path.read_text(encoding="utf-8") != page()]
    if "--check" in sys.argv[1:]:
        return len(stale)
    for path in stale:
        path.write_text(PAGES[path](), encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
