"""Write cli.md, settings.md, languages.md, the table in filters.md and web/openapi.json from the program.

`python docs/generate.py`
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

from codefathom.cli.display.render import as_toml
from codefathom.cli.help import compat_tables, explanation, spelling, usage
from codefathom.cli.options import COMMANDS, COMMON_OPTIONS, Command, Option
from codefathom.compat.setting_names import SETTING_NAMES
from codefathom.config.project_file import permission_of
from codefathom.config.settings import DeclaredSetting, Settings, declared_settings
from codefathom.facts.languages import CODE, EXTRACTIONS, PROSE, extensions_of
from codefathom.facts.reasons import ENGLISH, MARKS
from codefathom.parse.grammars import languages, load
from codefathom.search.graph.imports import has_custom
from codefathom.server.openapi_document import openapi_document
from codefathom.stores.conditions import FIELDS, OTHER_NAMES
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

COMPAT_INTRODUCTION = """\
## Names of other programs

Scripts and settings that were made for other programs continue to work. `fathom help compat` prints the tables below;
the help of a command does not show these names, and new scripts do not need them. Some lines as they may stand in a
script:

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
    compat = "\n".join(_names_table(title, rows) for title, rows in compat_tables().items())
    return f"{GENERATED}\n{CLI_INTRODUCTION}\n{commands}\n{common}\n{COMPAT_INTRODUCTION}\n{compat}"


def _names_table(title: str, rows: Sequence[tuple[str, str]]) -> str:
    lines = [f"{title[0].upper()}{title[1:]}:", "", "| name | here |", "| --- | --- |"]
    return "\n".join([*lines, *(f"| `{_cell(name)}` | {_cell(meaning)} |" for name, meaning in rows)]) + "\n"


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
    for name, key in SETTING_NAMES.items():
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
    parts = (GENERATED, LANGUAGES_INTRODUCTION, *rows, "", f"{closing}{', '.join(others)}.", LANGUAGES_END)
    return "\n".join([*parts, *_documents(), ""])


DOCUMENTS_INTRODUCTION = """\
## Documents

The text of these files is taken out of them. A hit and a citation name the part of the document; a document without
headings has paragraphs.
"""


def _documents() -> Iterator[str]:
    """Yield the table of documents whose text is taken out of them."""
    yield DOCUMENTS_INTRODUCTION
    columns = ("document", "endings", "parts", "needs")
    yield from (f"| {' | '.join(columns)} |", f"|{' --- |' * len(columns)}")
    for name, how in EXTRACTIONS.items():
        endings = " ".join(f"`.{extension}`" for extension in extensions_of(name))
        needs = "`pip install 'codefathom[documents]'`" if how.library else "–"
        yield f"| {how.title} | {endings} | {how.marks} | {needs} |"


FIELD_TABLE = re.compile(r"(?<=<!-- fields -->\n).*?(?=<!-- end of fields -->)", re.DOTALL)


def filters_page() -> str:
    """Return docs/filters.md with the table of fields that the program has."""
    rows = ["| field | also called | kind | of | what it is |", "| --- | --- | --- | --- | --- |"]
    for field in FIELDS.values():
        others = " ".join(f"`{other}`" for other, name in OTHER_NAMES.items() if name == field.name)
        of = "file" if field.of == "file" else "lines found"
        rows.append(f"| `{field.name}` | {others} | {field.kind} | {of} | {_cell(field.help)} |")
    page = (HERE / "filters.md").read_text(encoding="utf-8")
    return FIELD_TABLE.sub(lambda _: "\n".join([*rows, ""]), page)


def wrapped_languages() -> str:
    """Return the module of the page that names the languages with lines that the viewer wraps: texts for people."""
    names = sorted(PROSE | EXTRACTIONS.keys())
    rows = "".join(f'  "{name}",\n' for name in names)
    head = "// Written by `python docs/generate.py`; a test fails when it is stale."
    return f"{head}\nexport const PROSE = new Set([\n{rows}]);\n"


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


def api_description() -> str:
    """Return web/openapi.json, from which the page has its types."""
    return openapi_document()


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
    HERE / "filters.md": filters_page,
    HERE.parent / "web" / "src" / "viewer" / "prose.ts": wrapped_languages,
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
