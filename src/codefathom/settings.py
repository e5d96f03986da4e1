"""All settings as one frozen tree: defaults < user file < project file < environment < arguments.

Only the engine and the faces read it; everything below gets plain arguments. The value of a setting is known together
with the place it comes from (`Settings.origins`), and a wrong key or value is an error that names both.
"""

# Without `from __future__ import annotations`: the texts would be compiled again for each named tuple, 2 ms in all.
import os
from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple, get_type_hints

from codefathom.errors import SettingsError
from codefathom.types import LEVELS, MODES

PROJECT_FILE = "fathom.toml"
ROOT_MARKS = (".fathom", PROJECT_FILE, ".git")
_NOTHING: Mapping[str, Any] = MappingProxyType({})


class Rule(NamedTuple):
    """What a setting is for and which values it takes."""

    help: str
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    local: bool = False  # a path which a project file must keep inside the project


class SourceSettings(NamedTuple):
    """Which files are read."""

    dir: Annotated[str, Rule("Folder to index, relative to the project.", local=True)] = "."
    required_exts: Annotated[
        tuple[str, ...], Rule("Only files whose names end with one of these; empty means all.")
    ] = ()
    ignore: Annotated[
        tuple[str, ...], Rule("Further patterns in the syntax of .gitignore; they win over the files.")
    ] = ()
    follow_symlinks: Annotated[bool, Rule("Follow symbolic links that stay inside the project.")] = False
    max_file_bytes: Annotated[int, Rule("Larger files are skipped, and listed as oversized.", low=1)] = 4_000_000
    include_generated: Annotated[bool, Rule("Index generated, minified and vendored files too.")] = False


class ParseSettings(NamedTuple):
    """How symbols are found."""

    chain: Annotated[tuple[str, ...], Rule("Parsers to ask, in this order; the first that can, does.")] = (
        "treesitter",
        "text",
    )


class ChunkSettings(NamedTuple):
    """How documents are cut."""

    target_chars: Annotated[
        int, Rule("Definitions above this size are cut, smaller ones grouped up to it.", low=100)
    ] = 1_000
    max_lines: Annotated[int, Rule("Most lines of one chunk.", low=5)] = 60


class EmbedSettings(NamedTuple):
    """How text becomes vectors."""

    model: Annotated[str, Rule("Embedding model; `bundled` is inside the package.")] = "bundled"
    dimensions: Annotated[int, Rule("Length of the vectors to ask of the model; 0 means its own.", low=0)] = 0
    batch: Annotated[int, Rule("Texts in one call of the model.", low=1)] = 1_024


class StoreSettings(NamedTuple):
    """How vectors are kept."""

    vectors: Annotated[str, Rule("Kind of vector store.")] = "flat"
    vector_dim: Annotated[int, Rule("Length of stored vectors; 0 means the model's own.", low=0)] = 0
    exact: Annotated[bool, Rule("Never replace exact vector search by an approximate one.")] = False


class SearchSettings(NamedTuple):
    """How hits are found and ordered."""

    limit: Annotated[int, Rule("Most hits of a search.", low=1, high=1_000)] = 10
    level: Annotated[str, Rule("What a hit is.", choices=LEVELS)] = "chunk"
    mode: Annotated[str, Rule("Which rankings take part.", choices=MODES)] = "hybrid"
    candidates: Annotated[int, Rule("Most candidates of each ranking before they are fused.", low=1)] = 100
    fusion: Annotated[
        str, Rule("Reciprocal rank fusion, or weighted sum of scaled scores.", choices=("rrf", "weighted"))
    ] = "rrf"
    rrf_k: Annotated[int, Rule("Constant of reciprocal rank fusion; larger is flatter.", low=1)] = 60
    lexical_weight: Annotated[float, Rule("Weight of the word ranking in a weighted fusion.", low=0.0, high=1.0)] = 0.6
    vector_weight: Annotated[float, Rule("Weight of the vector ranking in a weighted fusion.", low=0.0, high=1.0)] = 0.4
    min_similarity: Annotated[
        float, Rule("Vector candidates below this cosine similarity are dropped.", low=0.0, high=1.0)
    ] = 0.0
    refresh: Annotated[str, Rule("Update the index before a search.", choices=("auto", "always", "never"))] = "auto"
    refresh_max_files: Annotated[int, Rule("With `auto`: more changed files than this are not waited for.", low=0)] = (
        500
    )


class RerankSettings(NamedTuple):
    """How many candidates the last ranking sees."""

    candidates: Annotated[int, Rule("Candidates that are ranked after fusion.", low=1)] = 100
    top_n: Annotated[int, Rule("Sources that go to a language model.", low=1)] = 8


class SelectSettings(NamedTuple):
    """The stages around a language model; without one they are skipped."""

    filter_level: Annotated[
        int, Rule("0 retrieval only, 1 also selects by model, 2 also adds related files; -1 decides.", low=-1, high=2)
    ] = -1
    max_input_tokens: Annotated[
        int, Rule("Most tokens sent to the model in one call; 0 means what it takes.", low=0)
    ] = 0


class JudgeSettings(NamedTuple):
    """How a language model judges candidates."""

    relevance_threshold: Annotated[
        int, Rule("Least grade, 0 to 10, at which a selected file is kept.", low=0, high=10)
    ] = 6
    doc_relevance: Annotated[int, Rule("Least grade, 0 to 10, at which a document is kept.", low=0, high=10)] = 5
    workers: Annotated[int, Rule("Judgements asked for at the same time.", low=1)] = 5


class ContextSettings(NamedTuple):
    """How a context is packed."""

    max_files: Annotated[int, Rule("Most files of a context.", low=1)] = 10
    window: Annotated[int, Rule("Most tokens of a context.", low=1)] = 120_000
    full_text_ratio: Annotated[float, Rule("Share of the window for whole files.", low=0.0, high=1.0)] = 0.6
    segment_ratio: Annotated[float, Rule("Share of the window for excerpts.", low=0.0, high=1.0)] = 0.35
    disable_auto_window: Annotated[bool, Rule("Keep the window fixed instead of adapting it to the model.")] = False
    disable_segment_reorder: Annotated[bool, Rule("Leave excerpts in the order in which they were found.")] = False
    tokenizer_path: Annotated[
        str, Rule("A tokenizer.json to count tokens with; empty means an estimate.", local=True)
    ] = ""


class LimitsSettings(NamedTuple):
    """How hard remote services are used."""

    min_interval_ms: Annotated[int, Rule("Least time between two calls of a remote provider.", low=0)] = 250


class IndexSettings(NamedTuple):
    """How the index is made and where it lies."""

    dir: Annotated[str, Rule("Folder of the index; empty means .fathom in the project.", local=True)] = ""
    error_share: Annotated[
        float, Rule("A run pauses when more than this share of its files failed.", low=0.0, high=1.0)
    ] = 0.30
    error_minimum: Annotated[int, Rule("Files a run looks at before that share counts.", low=1)] = 50
    workers: Annotated[int, Rule("Processes that parse; 0 means one for each processor.", low=0)] = 0


class Settings(NamedTuple):
    """Every setting, and in `origins` where each value that is not a default comes from."""

    source: SourceSettings = SourceSettings()
    parse: ParseSettings = ParseSettings()
    chunk: ChunkSettings = ChunkSettings()
    embed: EmbedSettings = EmbedSettings()
    store: StoreSettings = StoreSettings()
    search: SearchSettings = SearchSettings()
    rerank: RerankSettings = RerankSettings()
    select: SelectSettings = SelectSettings()
    judge: JudgeSettings = JudgeSettings()
    context: ContextSettings = ContextSettings()
    limits: LimitsSettings = LimitsSettings()
    index: IndexSettings = IndexSettings()  # type: ignore[assignment]  # hides tuple.index, which nobody needs here
    origins: Mapping[str, str] = _NOTHING


# The names of the first document, accepted in settings files and as arguments.
ALIASES: Mapping[str, str] = {
    "source_dir": "source.dir",
    "required_exts": "source.required_exts",
    "index_filter_level": "select.filter_level",
    "index_filter_file_num": "context.max_files",
    "verify_file_relevance_score": "judge.relevance_threshold",
    "model_max_input_length": "select.max_input_tokens",
    "skip_build_index": "search.refresh",
    "skip_filter_index": "select.filter_level",
    "enable_hybrid_index": "search.mode",
    "duckdb_vector_dim": "store.vector_dim",
    "duckdb_query_top_k": "search.candidates",
    "duckdb_query_similarity": "search.min_similarity",
    "anti_quota_limit_ms": "limits.min_interval_ms",
    "rag_context_window_limit": "context.window",
    "full_text_ratio": "context.full_text_ratio",
    "segment_ratio": "context.segment_ratio",
    "disable_auto_window": "context.disable_auto_window",
    "disable_segment_reorder": "context.disable_segment_reorder",
    "index_filter_workers": "judge.workers",
    "rag_doc_filter_relevance": "judge.doc_relevance",
    "tokenizer_path": "context.tokenizer_path",
}
# Those of them that were switches, and what on and off mean now.
_SWITCHES: Mapping[str, tuple[object, object]] = {
    "skip_build_index": ("never", "auto"),
    "skip_filter_index": (0, -1),
    "enable_hybrid_index": ("hybrid", "lexical"),
}


class Known(NamedTuple):
    """What can be said about one setting without reading anything."""

    key: str
    default: Any
    rule: Rule


class _Given(NamedTuple):
    key: str  # as written
    value: object
    origin: str


SECTIONS = tuple(name for name in Settings._fields if name != "origins")


def known_settings() -> tuple[Known, ...]:
    """All settings in the order in which they are declared."""
    found = []
    for section in SECTIONS:
        kind = type(getattr(Settings(), section))
        hints = get_type_hints(kind, include_extras=True)
        found += [Known(f"{section}.{name}", kind._field_defaults[name], hints[name].__metadata__[0]) for name in hints]
    return tuple(found)


def find_root(path: str) -> str:
    """Return the nearest folder at or above `path` that holds .fathom, fathom.toml or .git, else `path` itself."""
    start = folder = os.path.realpath(path)
    while True:
        if any(os.path.exists(os.path.join(folder, mark)) for mark in ROOT_MARKS):
            return folder
        parent = os.path.dirname(folder)
        if parent == folder:
            return start
        folder = parent


def user_file(environ: Mapping[str, str]) -> str:
    """Return the path of the user's settings file, which need not exist."""
    if environ.get("FATHOM_CONFIG"):
        return environ["FATHOM_CONFIG"]
    home = os.path.expanduser("~")
    if os.name == "nt":
        base = environ.get("APPDATA") or os.path.join(home, "AppData", "Roaming")
    else:
        base = environ.get("XDG_CONFIG_HOME") or os.path.join(home, ".config")
    return os.path.join(base, "codefathom", PROJECT_FILE)


def load_settings(
    root: str,
    *,
    overrides: Mapping[str, object] = _NOTHING,
    environ: Mapping[str, str] = _NOTHING,
    user_file: str = "",
) -> Settings:
    """Return the settings of the project at `root`; later layers win over earlier ones."""
    project_file = os.path.join(root, PROJECT_FILE)
    given = [*_from_file(user_file), *_from_file(project_file), *_from_environment(environ)]
    given += [_Given(key, value, "argument") for key, value in overrides.items()]
    if not given:
        return Settings()
    known = {item.key: item for item in known_settings()}
    settings = Settings()
    origins: dict[str, str] = {}
    for item in given:
        key, value = _resolve(item, known)
        if known[key].rule.local and item.origin == project_file:
            _check_inside(item, value, root)
        section, _, name = key.partition(".")
        settings = settings._replace(**{section: getattr(settings, section)._replace(**{name: value})})
        origins[key] = item.origin
    settings = settings._replace(origins=MappingProxyType(origins))
    _check_together(settings)
    return settings


def _from_file(path: str) -> Iterator[_Given]:
    if not path or not os.path.isfile(path):
        return
    import tomllib  # noqa: PLC0415  12 ms, and most projects have no such file

    try:
        with open(path, "rb") as file:
            content = tomllib.load(file)
    except (OSError, ValueError) as error:  # not readable, not TOML, or not UTF-8
        raise SettingsError(f"cannot read {path}: {error}", hint="correct the file or move it away") from error
    for name, value in content.items():
        if isinstance(value, dict):
            yield from (_Given(f"{name}.{key}", inner, path) for key, inner in value.items())
        else:
            yield _Given(name, value, path)


def _from_environment(environ: Mapping[str, str]) -> Iterator[_Given]:
    for name, value in environ.items():
        if not name.startswith("FATHOM_"):
            continue
        section, mark, key = name.removeprefix("FATHOM_").lower().partition("__")
        if mark:
            yield _Given(f"{section}.{key}", value, f"environment {name}")
        elif (
            section.partition("_")[0] in SECTIONS and name != "FATHOM_INDEX_DIR"
        ):  # that one is a place for all projects
            right = name.replace("_", "__", 2).replace("__", "_", 1)
            raise SettingsError(f"environment {name} is not a setting", hint=f"with two underscores: {right}?")


def _resolve(given: _Given, known: Mapping[str, Known]) -> tuple[str, Any]:
    key = ALIASES.get(given.key, given.key)
    if key not in known:
        nearest = _nearest(key, [*known, *ALIASES])
        raise SettingsError(f"{given.origin}: {given.key} = {given.value!r} is not a setting", hint=nearest)
    if given.key in _SWITCHES:
        on, off = _SWITCHES[given.key]
        return key, on if _convert(given, Known(key, True, Rule(""))) else off
    return key, _convert(given, known[key])


def _nearest(key: str, names: Iterable[str]) -> str:
    from difflib import get_close_matches  # noqa: PLC0415  only for a wrong key

    near = get_close_matches(key, list(names), n=1, cutoff=0.6)
    remedy = f"did you mean {near[0]}? " if near else ""
    return f"{remedy}`fathom config show` lists all settings"


_TYPES = {bool: "true or false", int: "a whole number", float: "a number", str: "text", tuple: "a list of texts"}
_WORDS = {"true": True, "yes": True, "on": True, "1": True, "false": False, "no": False, "off": False, "0": False}


def _convert(given: _Given, known: Known) -> Any:
    wanted = type(known.default)
    value: Any = _parse_text(given.value, wanted) if isinstance(given.value, str) else given.value
    if isinstance(value, list):
        value = tuple(value)
    if wanted is float and type(value) is int:
        value = float(value)
    # type() and not isinstance(): a bool is an int, but `limit = true` is a mistake.
    if type(value) is not wanted or (wanted is tuple and not all(isinstance(part, str) for part in value)):
        raise _wrong(given, known.key, f"give {_TYPES[wanted]}")
    _, choices, low, high, _ = known.rule
    if choices and value not in choices:
        raise _wrong(given, known.key, f"choose one of {', '.join(choices)}")
    # Written so that NaN is outside.
    if (low is not None and not value >= low) or (high is not None and not value <= high):
        raise _wrong(given, known.key, f"give a number from {low}" + ("" if high is None else f" to {high}"))
    return value


def _parse_text(text: str, wanted: type) -> object:
    if wanted is bool:
        return _WORDS.get(text.strip().lower(), text)
    if wanted is tuple:
        return tuple(part.strip() for part in text.split(",") if part.strip())
    try:
        return wanted(text)
    except ValueError:
        return text


def _wrong(given: _Given, key: str, remedy: str) -> SettingsError:
    name = given.key if given.key == key else f"{given.key} ({key})"
    return SettingsError(f"{given.origin}: {name} cannot be {given.value!r}", hint=remedy)


def _check_inside(given: _Given, value: str, root: str) -> None:
    """A project file comes with the repository: it must not point the program at other places of the machine."""
    top = os.path.join(os.path.realpath(root), "")
    if not os.path.join(os.path.realpath(os.path.join(top, value)), "").startswith(top):
        raise _wrong(given, given.key, "name a place inside the project, or set it in your own file or environment")


def _check_together(settings: Settings) -> None:
    full, segment = settings.context.full_text_ratio, settings.context.segment_ratio
    # In thousandths: 0.9 + 0.1 is more than 1 in binary fractions.
    if round(full * 1000) + round(segment * 1000) > 1000:
        places = {settings.origins.get(f"context.{name}", "default") for name in ("full_text_ratio", "segment_ratio")}
        raise SettingsError(
            f"{', '.join(sorted(places))}: context.full_text_ratio {full} + context.segment_ratio {segment} is above 1",
            hint="make them add up to at most 1",
        )
