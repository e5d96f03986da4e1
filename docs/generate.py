"""Write docs/cli.md and docs/settings.md from the tables the program itself uses: `python docs/generate.py`."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import groupby
from pathlib import Path

from codefathom.cli.aliases import LEGACY_OPTIONS
from codefathom.cli.help import explanation, spelling, usage
from codefathom.cli.options import COMMANDS, COMMON_OPTIONS, Command, Option
from codefathom.cli.render import as_toml
from codefathom.configuration import ALIASES
from codefathom.settings import Known, Settings, known_settings

HERE = Path(__file__).parent
GENERATED = "<!-- Written by `python docs/generate.py`; a test fails when it is stale. -->"

CLI_INTRODUCTION = """\
# The command line

`fathom COMMAND [options]`. Answers go to stdout, everything else to stderr.

| exit code | meaning |
| --- | --- |
| 0 | found, done |
| 1 | nothing found; for `doctor`, something is not well |
| 2 | error: a wrong argument, setting or filter, an unreadable project, a paused run |
| 130 | interrupted with Ctrl-C |

A command is about the project around the current folder: the nearest folder upwards with `.fathom`, `fathom.toml` or
`.git`, else the folder itself. Paths in answers are relative to the project. Paths given to options are looked for
below the current folder first, then in the project. `NO_COLOR` switches colours off, `FATHOM_DEBUG=1` shows tracebacks.
"""

LEGACY_INTRODUCTION = """\
## Flags without a command

These spellings are accepted too, so that scripts written for them go on working:

```
fathom --build-index --source-dir ./my-project
fathom --rag --source-dir ./my-project "how are users authenticated?"
fathom --rag --filter-level 2 --max-files 5 "everything about the database"
fathom --query-index "@@authenticate" --source-dir ./my-project
fathom --rag --contexts-only --source-dir ./my-project '{"query": "database settings", "only_contexts": true}'
```

Where what it prints is to go to another program, pipe it there; the program in place of `model-tool` is yours:

```
fathom --rag "a shell script that connects to the database" --source-dir ./my-project | model-tool
```

`--rag` answers as `fathom ask` does. Without a language model it prints what retrieval finds: selecting and judging are
skipped, which is said on stderr.
"""

SETTINGS_INTRODUCTION = """\
# Settings

A value is taken from the last of these places that names it:

1. the default below,
2. your own file, `~/.config/codefathom/fathom.toml` (`XDG_CONFIG_HOME` and, on Windows, `APPDATA` are honoured;
   `FATHOM_CONFIG` names another file),
3. `fathom.toml` in the project,
4. the environment: `FATHOM_SEARCH__LIMIT=20` is `search.limit`,
5. arguments: options such as `--limit`, or `--set search.limit=20` for any setting.

`fathom config show` prints every value and where it comes from. A key or value that cannot be used is an error. A
project file comes with the repository: its paths must stay inside the project.

```toml
# fathom.toml
[source]
required_exts = [".py", ".md"]

[search]
limit = 20
```

Two variables are no settings: `FATHOM_INDEX_DIR` is one folder for the indexes of all projects, `FATHOM_CACHE_DIR` the
folder for what they share.
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
        lines += [*_option_table((*command.operands, *command.options)), ""]
    return "\n".join(lines)


def _option_table(options: tuple[Option, ...]) -> Iterator[str]:
    yield "| option | what it does | setting |"
    yield "| --- | --- | --- |"
    for option in options:
        setting = f"`{option.setting}`" if option.setting else ""
        yield f"| `{_cell(spelling(option))}` | {_cell(explanation(option))} | {setting} |"


def settings_page() -> str:
    """Return docs/settings.md."""
    older: dict[str, list[str]] = {}
    for name, key in ALIASES.items():
        older.setdefault(key, []).append(name)
    sections = [_section(name, list(group), older) for name, group in groupby(known_settings(), key=_section_of)]
    return f"{GENERATED}\n{SETTINGS_INTRODUCTION}\n" + "\n".join(sections)


def _section_of(known: Known) -> str:
    return known.key.partition(".")[0]


def _section(name: str, settings: list[Known], older: dict[str, list[str]]) -> str:
    summary = (type(getattr(Settings(), name)).__doc__ or "").strip()
    lines = [
        f"## {name}",
        "",
        summary,
        "",
        "| setting | default | what it does | also called |",
        "| --- | --- | --- | --- |",
    ]
    for known in settings:
        names = ", ".join(f"`{alias}`" for alias in older.get(known.key, ()))
        lines.append(
            f"| `{known.key}` | `{as_toml(known.default)}` | {_cell(known.rule.help)}{_range(known)} | {names} |"
        )
    return "\n".join(lines) + "\n"


def _range(known: Known) -> str:
    rule = known.rule
    if rule.choices:
        return f" One of {', '.join(f'`{choice}`' for choice in rule.choices)}."
    if rule.low is None:
        return ""
    return f" At least {rule.low}." if rule.high is None else f" From {rule.low} to {rule.high}."


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


PAGES = {HERE / "cli.md": cli_page, HERE / "settings.md": settings_page}


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
