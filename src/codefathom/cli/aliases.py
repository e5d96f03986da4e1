"""The options of earlier scripts (compat/script_options.py), as the command that each stands for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from codefathom.cli.options import AskOptions, Common, ContextOptions, IndexOptions, Option, SearchOptions
from codefathom.compat.script_options import COMMAND_OPTIONS, SCRIPT_OPTIONS, ScriptOption
from codefathom.errors import UsageError

COMPAT_TOPIC = "compat"  # of `fathom help`; not a command
_MODES = ("--rag", "--build-index", "--query-index")


def _options_of(option: ScriptOption) -> Iterator[Option]:
    """Yield an option, and its --no- form if it has one."""
    name = option.names[-1]
    written = Option(option.names, option.help, option.metavar, option.setting, default=option.default)
    yield written._replace(setting="") if option.values else written  # a switch has values of its own: `switched`
    if option.off:
        yield Option((f"--no-{name[2:]}",), option.off, turns_off=written.destination)


PROMPT = Option(("prompt",), "the question", "QUERY", repeat=True)
LEGACY_OPTIONS = tuple(each for option in SCRIPT_OPTIONS for each in _options_of(option))
# Options that a command takes, too, though its help does not show them.
HIDDEN_OPTIONS: Mapping[str, tuple[Option, ...]] = {
    command: tuple(each for option in SCRIPT_OPTIONS if option.names[-1] in names for each in _options_of(option))
    for command, names in COMMAND_OPTIONS.items()
}
_SWITCHES = {option.destination: script for script in SCRIPT_OPTIONS if script.values for option in _options_of(script)}
NO_MODEL = "no language model is configured: the sources are the hits of the search, no model selects or judges them"


def is_legacy(words: Sequence[str]) -> bool:
    """Return True if the words contain an option that needs no command."""
    flags = {name for option in LEGACY_OPTIONS for name in option.names if name.startswith("--")}
    return any(word.partition("=")[0] in flags for word in words)


def translate(common: Common, values: dict[str, Any]) -> tuple[str, Any]:
    """Return the command that the options stand for, and the options of that command."""
    overrides = {**common.overrides, **switched(values)}
    if "context.max_files" in overrides:  # a context and an answer are limited by settings of their own
        overrides.setdefault("rerank.top_n", overrides["context.max_files"])
    common = common._replace(overrides=overrides)
    prompt = values.get("prompt", "")
    if "query_index" in values:
        return "search", SearchOptions(common, values["query_index"])
    if values.get("build_index"):
        return "index", IndexOptions(common)
    if not values.get("rag"):
        raise UsageError(
            f"the options name no task: one of {', '.join(_MODES)} is needed",
            hint="`fathom --help` lists the commands and options",
        )
    from codefathom.search.question.query import unwrap  # what it imports is not needed before

    query, only_contexts = unwrap(prompt)
    if not query.strip():
        raise UsageError("--rag needs a question", hint='fathom --rag "how are users authenticated?"')
    only_contexts = only_contexts or bool(values.get("contexts_only"))
    options = AskOptions(common, query, contexts_only=only_contexts, rag=True, shell=bool(values.get("shell")))
    return "ask", options


def switched(values: dict[str, Any]) -> dict[str, object]:
    """Take the switches that stand for settings out of the values, and return these settings."""
    present = [(script, values.pop(name)) for name, script in _SWITCHES.items() if name in values]
    return {script.setting: script.values[0 if is_on else 1] for script, is_on in present if script.values}


def as_context(options: AskOptions) -> ContextOptions:
    """Return the options of `fathom context` with which `--rag` runs when no language model is configured."""
    if options.contexts_only:
        return ContextOptions(options.common, options.query, format="json")
    return ContextOptions(options.common, options.query, notice=NO_MODEL)
