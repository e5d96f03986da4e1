"""All settings as one frozen tree. Only the engine and the faces read it; everything below gets plain arguments."""

# Without `from __future__ import annotations`: the texts would be compiled again for each named tuple, 2 ms in all.
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple, get_type_hints

from codefathom.config.model_names import model_and_address, shown_model
from codefathom.errors import without_login
from codefathom.source.size_limits import MAX_WHOLE_FILE_BYTES
from codefathom.types import LEVELS, MODES

NOTHING: Mapping[str, Any] = MappingProxyType({})
# As people write them; source/charset.py says what each is read as.
_ENCODINGS = (
    *("gbk", "gb18030", "big5", "shift_jis", "euc-jp", "euc-kr", "windows-1250", "windows-1251", "windows-1252"),
    *("iso-8859-1", "iso-8859-2", "iso-8859-15", "koi8-r", "cp437", "cp850", "cp866", "macintosh"),
)
_GIT = ("https", "ssh", "http", "git", "file")


class SettingRule(NamedTuple):
    """What a setting is for and which values it takes."""

    help: str
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    local: bool = False  # a path which a project file must keep inside the project
    remote: bool = False  # where text may be sent: a project file must not set it
    form: str = ""  # regular expression that each text of a list must match
    example: str = ""  # such a text


class SourceSettings(NamedTuple):
    """Which files are read."""

    dir: Annotated[str, SettingRule("Folder to index, relative to the project.", local=True)] = "."
    required_exts: Annotated[
        tuple[str, ...], SettingRule("Only files whose names end with one of these; empty means all.")
    ] = ()
    ignore: Annotated[
        tuple[str, ...], SettingRule("Further patterns in the syntax of .gitignore; they win over the files.")
    ] = ()
    follow_symlinks: Annotated[bool, SettingRule("Follow symbolic links that stay inside the project.")] = False
    max_file_bytes: Annotated[
        int, SettingRule("Larger files are skipped, and listed as oversized.", low=1, high=10_000_000_000)
    ] = MAX_WHOLE_FILE_BYTES
    include_generated: Annotated[bool, SettingRule("Index generated, minified and vendored files too.")] = False
    encoding: Annotated[
        str,
        SettingRule(
            "Encoding of files that are not UTF-8 and do not declare one; `auto` means the one that all of them "
            "together look like.",
            choices=("auto", *_ENCODINGS),
        ),
    ] = "auto"
    secrets: Annotated[
        str,
        SettingRule(
            "What the index holds in the place of a secret: `mask`, signs without meaning, so that its value is stored "
            "nowhere, or `keep`, the value.",
            choices=("mask", "keep"),
        ),
    ] = "mask"


class ParseSettings(NamedTuple):
    """How symbols are found."""

    chain: Annotated[
        tuple[str, ...],
        SettingRule("Parsers to ask, in this order; the first that can, does.", choices=("treesitter", "llm", "text")),
    ] = ("treesitter", "text")


class ChunkSettings(NamedTuple):
    """How documents are cut."""

    target_chars: Annotated[
        int, SettingRule("Definitions above this size are cut, smaller ones grouped up to it.", low=100, high=1_000_000)
    ] = 1_000
    max_lines: Annotated[int, SettingRule("Most lines of one chunk.", low=5, high=100_000)] = 60


_HOST = r"(https?://)?(\[[0-9A-Fa-f:.]+\]|[\w.-]+)(:\d{1,5})?"
_BASE_URL = SettingRule("Address of models that carry none; empty means the usual one of their provider.", remote=True)


class EmbedSettings(NamedTuple):
    """How text becomes vectors. Keys come from the environment, such as OPENAI_API_KEY, or from a keyring."""

    model: Annotated[
        str,
        SettingRule(
            "Embedding model; `bundled` is inside the package, others are such as ollama:nomic-embed-text, "
            "openai:text-embedding-3-small, or with an address openai:NAME@http://localhost:8000/v1; onnx:FOLDER and "
            "model2vec:FOLDER lie on this disk.",
            remote=True,
        ),
    ] = "bundled"
    base_url: Annotated[str, _BASE_URL] = ""
    dimensions: Annotated[int, SettingRule("Length of the vectors; 0 means the model's own.", low=0, high=65_536)] = 0
    reduce: Annotated[
        str,
        SettingRule(
            "How vectors get that length: `ask` the model for it, `truncate` them, or `project` them by a fixed "
            "random matrix.",
            choices=("ask", "truncate", "project"),
        ),
    ] = "ask"
    batch: Annotated[int, SettingRule("Texts in one call of the model.", low=1, high=100_000)] = 1_024
    batch_tokens: Annotated[int, SettingRule("Tokens in one call of a remote model, by estimate.", low=1)] = 32_000
    max_tokens: Annotated[int, SettingRule("Tokens of one text; no model gets more of it.", low=1)] = 8_000
    query_prefix: Annotated[
        str, SettingRule("What stands before a question; `auto` is what the model is known to expect.")
    ] = "auto"
    document_prefix: Annotated[
        str, SettingRule("What stands before a text; `auto` is what the model is known to expect.")
    ] = "auto"
    timeout_s: Annotated[float, SettingRule("Seconds to wait for the vectors of one call.", low=0.1, high=86_400)] = (
        60.0
    )
    threads: Annotated[int, SettingRule("Threads of a model in ONNX.", low=1, high=256)] = 1


class StoreSettings(NamedTuple):
    """How vectors are kept."""

    vectors: Annotated[str, SettingRule("Kind of vector store.")] = "flat"


class SearchSettings(NamedTuple):
    """How hits are found and ordered."""

    limit: Annotated[int, SettingRule("Most hits of a search.", low=1, high=1_000)] = 10
    level: Annotated[str, SettingRule("What a hit is.", choices=LEVELS)] = "chunk"
    mode: Annotated[str, SettingRule("How a search ranks; auto decides for each query.", choices=MODES)] = "auto"
    candidates: Annotated[
        int, SettingRule("Most candidates of each ranking before they are fused.", low=1, high=10_000)
    ] = 100
    fusion: Annotated[
        str, SettingRule("Reciprocal rank fusion, or weighted sum of scaled scores.", choices=("rrf", "weighted"))
    ] = "rrf"
    rrf_k: Annotated[int, SettingRule("Constant of reciprocal rank fusion; larger is flatter.", low=1)] = 60
    lexical_weight: Annotated[
        float, SettingRule("Weight of the word ranking in a weighted fusion.", low=0.0, high=1.0)
    ] = 0.6
    vector_weight: Annotated[
        float, SettingRule("Weight of the vector ranking in a weighted fusion.", low=0.0, high=1.0)
    ] = 0.4
    min_similarity: Annotated[
        float, SettingRule("Vector candidates below this cosine similarity are dropped.", low=0.0, high=1.0)
    ] = 0.0
    expression_timeout_s: Annotated[
        float,
        SettingRule(
            "Seconds of computing that all regular expressions of one search may take together.",
            low=0.1,
            high=600.0,
            remote=True,
        ),
    ] = 10.0
    refresh: Annotated[str, SettingRule("Update the index before a search.", choices=("auto", "always", "never"))] = (
        "auto"
    )
    refresh_max_files: Annotated[
        int, SettingRule("With `auto`: more changed files than this are not waited for.", low=0)
    ] = 500


class RerankSettings(NamedTuple):
    """How many candidates the last ranking sees, and a model that reads the best of them."""

    candidates: Annotated[int, SettingRule("Candidates that are ranked after fusion.", low=1, high=10_000)] = 100
    top_n: Annotated[int, SettingRule("Sources that go to a language model.", low=1, high=1_000)] = 8
    model: Annotated[
        str,
        SettingRule(
            "Reranking model: onnx:FOLDER, a cross-encoder on this disk, or a server with /rerank, "
            "http:NAME@http://localhost:8000/v1 or just http://localhost:8080; empty: none.",
            remote=True,
        ),
    ] = ""
    base_url: Annotated[str, SettingRule("Address of a reranking server whose model carries none.", remote=True)] = ""
    depth: Annotated[int, SettingRule("Best candidates that the reranking model reads.", low=1, high=10_000)] = 20
    weight: Annotated[float, SettingRule("What its grades count against the ranking.", low=0.0, high=1.0)] = 0.5
    max_tokens: Annotated[int, SettingRule("Tokens of a question with one text.", low=8)] = 512
    timeout_s: Annotated[float, SettingRule("Seconds to wait for the grades of one call.", low=0.1, high=86_400)] = 10.0
    threads: Annotated[int, SettingRule("Threads of a reranking model in ONNX.", low=1, high=256)] = 1


class SelectSettings(NamedTuple):
    """The stages around a language model; without one they are skipped."""

    filter_level: Annotated[
        int,
        SettingRule(
            "0 as found, 1 selected and judged by a model, 2 with related files; -1 is 1 where there is a model.",
            low=-1,
            high=2,
        ),
    ] = -1
    max_input_tokens: Annotated[
        int, SettingRule("Most tokens sent to the model in one call; 0 means what it takes.", low=0)
    ] = 0


class JudgeSettings(NamedTuple):
    """How a language model judges candidates."""

    relevance_threshold: Annotated[
        int, SettingRule("Least grade, 0 to 10, at which a file is kept.", low=0, high=10)
    ] = 6
    doc_relevance: Annotated[
        int, SettingRule("Least grade, 0 to 10, at which prose is kept, such as Markdown.", low=0, high=10)
    ] = 5
    workers: Annotated[int, SettingRule("Judgements asked for at the same time.", low=1, high=256)] = 5


class ContextSettings(NamedTuple):
    """How a context is packed."""

    max_files: Annotated[int, SettingRule("Most files of a context.", low=1, high=10_000)] = 10
    window: Annotated[int, SettingRule("Most tokens of a context.", low=1)] = 120_000
    full_text_ratio: Annotated[float, SettingRule("Share of the window for whole files.", low=0.0, high=1.0)] = 0.6
    segment_ratio: Annotated[float, SettingRule("Share of the window for excerpts.", low=0.0, high=1.0)] = 0.35
    disable_auto_window: Annotated[bool, SettingRule("Keep the window fixed instead of adapting it to the model.")] = (
        False
    )
    disable_segment_reorder: Annotated[bool, SettingRule("Leave excerpts in the order in which they were found.")] = (
        False
    )
    tokenizer_path: Annotated[
        str, SettingRule("A tokenizer.json to count tokens with; empty means an estimate.", local=True)
    ] = ""


class LimitsSettings(NamedTuple):
    """How hard remote services are used."""

    min_interval_ms: Annotated[
        int, SettingRule("Least time between two calls of a remote provider.", low=0, high=600_000)
    ] = 250
    requests_per_minute: Annotated[
        int, SettingRule("Most calls of a remote provider in a minute; 0: no limit.", low=0)
    ] = 0
    tokens_per_minute: Annotated[int, SettingRule("Most tokens sent in a minute, by estimate; 0: no limit.", low=0)] = 0
    attempts: Annotated[
        int, SettingRule("How often a call is tried that fails for a passing reason.", low=1, high=100)
    ] = 5


class TokenPrices(NamedTuple):
    """Prices of a million tokens sent to a model and received from it; 0 where one is not known."""

    sent: float
    received: float
    is_free: bool = False  # both are known to be 0


_MODEL = "Model for this, such as ollama:qwen2.5-coder:14b; empty means llm.model."


class LlmSettings(NamedTuple):
    """Which language models are asked. Keys come from the environment, such as OPENAI_API_KEY, or from a keyring."""

    model: Annotated[
        str,
        SettingRule(
            "Provider and model, such as openai:gpt-5-mini or ollama:qwen2.5-coder:14b, with an address of its own "
            "openai:NAME@http://localhost:8000/v1; empty: none.",
            remote=True,
        ),
    ] = ""
    base_url: Annotated[str, _BASE_URL] = ""
    connect_timeout_s: Annotated[float, SettingRule("Seconds to wait for a connection.", low=0.1, high=86_400)] = 10.0
    read_timeout_s: Annotated[
        float, SettingRule("Seconds to wait for the next piece of a reply.", low=0.1, high=86_400)
    ] = 600.0
    window: Annotated[int, SettingRule("Tokens that the model takes; 0 means that it is not known.", low=0)] = 0
    index: Annotated[
        str, SettingRule("Model for parsing (parse.chain) and for index.purposes; empty means llm.model.", remote=True)
    ] = ""  # type: ignore[assignment]
    select: Annotated[str, SettingRule(_MODEL, remote=True)] = ""
    judge: Annotated[str, SettingRule(_MODEL, remote=True)] = ""
    excerpt: Annotated[str, SettingRule(_MODEL, remote=True)] = ""
    answer: Annotated[str, SettingRule(_MODEL, remote=True)] = ""
    agent: Annotated[str, SettingRule(_MODEL, remote=True)] = ""
    prompt_price: Annotated[
        float, SettingRule("Price of a million tokens sent, in any currency; 0 means that it is not known.", low=0.0)
    ] = 0.0
    completion_price: Annotated[
        float,
        SettingRule("Price of a million tokens received, in the same currency; 0 means that it is not known.", low=0.0),
    ] = 0.0
    prices: Annotated[
        tuple[str, ...],
        SettingRule(
            "Prices of single models, each MODEL=SENT/RECEIVED such as openai:gpt-5-mini=0.25/2; other models have "
            "the two prices above.",
            form=r".+=\d+(\.\d+)?/\d+(\.\d+)?",
            example="openai:gpt-5-mini=0.25/2",
        ),
    ] = ()

    def of(self, role: str) -> str:
        """Return the model of a role, "" when there is none."""
        return str(getattr(self, role) or self.model)

    def prices_of(self, model: str) -> TokenPrices:
        """Return what a model costs: its own prices at its address, else its own anywhere, else those of all."""
        known = {shown_model(name): given for name, _, given in (entry.rpartition("=") for entry in self.prices)}
        name = shown_model(model)
        given = known.get(name) or known.get(model_and_address(name).model)
        if given is None:
            return TokenPrices(self.prompt_price, self.completion_price)
        sent, received = map(float, given.split("/"))
        return TokenPrices(sent, received, is_free=not sent and not received)


class AnswerSettings(NamedTuple):
    """How answers are made."""

    max_tokens: Annotated[int, SettingRule("Most tokens of an answer.", low=1)] = 2_048
    least_confidence: Annotated[
        float, SettingRule("Below this confidence of the search no model is asked.", low=0.0, high=1.0)
    ] = 0.02
    filter_hint: Annotated[str, SettingRule("A sentence on what matters here, given to the judging model.")] = ""
    mask_secrets: Annotated[
        bool, SettingRule("Mask secrets in everything that goes to a remote provider.", remote=True)
    ] = True


class AgentSettings(NamedTuple):
    """How long an agent may work."""

    rounds: Annotated[
        int, SettingRule("Rounds of one question; in the last one there are no tools.", low=1, high=1_000)
    ] = 6
    max_tokens: Annotated[int, SettingRule("Tokens of all rounds together, after which it must answer.", low=1)] = (
        200_000
    )
    max_seconds: Annotated[float, SettingRule("Seconds after which it must answer.", low=1)] = 900.0
    max_cost: Annotated[
        float,
        SettingRule("Cost after which it must answer, by the prices of the model (llm.prices); 0: no limit.", low=0.0),
    ] = 0.0


class IndexSettings(NamedTuple):
    """How the index is made and where it lies."""

    dir: Annotated[str, SettingRule("Folder of the index; empty means .fathom in the project.", local=True)] = ""
    error_share: Annotated[
        float, SettingRule("A run pauses when more than this share of its files failed.", low=0.0, high=1.0)
    ] = 0.30
    error_minimum: Annotated[int, SettingRule("Files a run looks at before that share counts.", low=1)] = 50
    workers: Annotated[int, SettingRule("Processes that parse; 0 means one for each processor.", low=0, high=1_024)] = 0
    wait_s: Annotated[
        float,
        SettingRule("Seconds to wait while another process writes the index; 0: fail at once.", low=0.0, high=86_400.0),
    ] = 300.0
    purposes: Annotated[
        bool,
        SettingRule(
            "`fathom index` asks a model for one line on each file, to choose files by for an answer.", remote=True
        ),
    ] = False


class ServerSettings(NamedTuple):
    """How `fathom serve` answers. Only your own file, the environment and arguments set these, never a project."""

    host: Annotated[str, SettingRule("Address to listen on; one that others reach needs a token.", remote=True)] = (
        "127.0.0.1"
    )
    port: Annotated[int, SettingRule("Port to listen on; 0 takes a free one.", low=0, high=65_535, remote=True)] = 8_900
    data_dir: Annotated[
        str,
        SettingRule("Folder for projects, jobs and conversations; empty means one in your data folder.", remote=True),
    ] = ""
    allowed_roots: Annotated[
        tuple[str, ...], SettingRule("Where projects may lie; empty: your home.", remote=True)
    ] = ()
    tokens: Annotated[
        tuple[str, ...],
        SettingRule(
            "Who may ask, each NAME:HASH of `fathom serve --new-token NAME`, or NAME:HASH:PROJECT+PROJECT for some.",
            form=r"[\w.-]+:[0-9a-f]{64}(:[\w.-]+(\+[\w.-]+)*)?",
            example="NAME:HASH or NAME:HASH:PROJECT+PROJECT, HASH with 64 signs",
            remote=True,
        ),
    ] = ()
    hosts: Annotated[
        tuple[str, ...], SettingRule("Names of this server, beside localhost and addresses.", remote=True)
    ] = ()
    cors: Annotated[
        tuple[str, ...],
        SettingRule(
            "Pages of other servers that may ask from a browser, such as https://code.example.org.",
            form=r"https?://[^/\s]+",
            example="https://code.example.org",
            remote=True,
        ),
    ] = ()
    model_hosts: Annotated[
        tuple[str, ...],
        SettingRule(
            "Where a project may ask for models by its settings over HTTP, beside the addresses in your own settings: "
            "each a host, or with scheme and port, such as gpu.example or https://gpu.example:8443.",
            form=_HOST,
            example="gpu.example or https://gpu.example:8443",
            remote=True,
        ),
    ] = ("localhost", "127.0.0.1", "[::1]")
    opened_projects: Annotated[
        int, SettingRule("Most indexes that are kept open.", low=1, high=10_000, remote=True)
    ] = 8
    cache_ttl_s: Annotated[
        float, SettingRule("Seconds for which a result is kept; 0 keeps none.", low=0, remote=True)
    ] = 300.0
    cache_entries: Annotated[int, SettingRule("Most results that are kept.", low=1, remote=True)] = 1_000
    max_body_bytes: Annotated[int, SettingRule("Largest body of a request.", low=1, remote=True)] = 2_000_000
    read_timeout_s: Annotated[
        float,
        SettingRule(
            "Seconds in which the head of a request must come, and then its body.", low=0.1, high=86_400, remote=True
        ),
    ] = 30.0
    write_timeout_s: Annotated[
        float,
        SettingRule(
            "Seconds until a client is left that takes nothing of its answer.", low=0.1, high=86_400, remote=True
        ),
    ] = 30.0
    connections: Annotated[
        int,
        SettingRule(
            "Most connections at a time, and no more than half of the files that the system lets the server open; for "
            "one more, the one is closed that has been without a whole request for longest.",
            low=1,
            remote=True,
        ),
    ] = 500
    connections_of_one: Annotated[
        int, SettingRule("Most of them from one address, such as a proxy before the server.", low=1, remote=True)
    ] = 200
    requests_per_minute: Annotated[
        int, SettingRule("Most of one token or address; 0: no limit.", low=0, remote=True)
    ] = 1_200
    search_processes: Annotated[
        int, SettingRule("Searches at a time; 0: one a processor, up to 4.", low=0, high=1_024, remote=True)
    ] = 0
    search_timeout_s: Annotated[
        float, SettingRule("Seconds for a search and its wait.", low=0.1, high=86_400, remote=True)
    ] = 30.0
    waiting_searches: Annotated[int, SettingRule("Most searches that wait; more are refused.", low=1, remote=True)] = (
        1_000
    )
    jobs_at_once: Annotated[
        int, SettingRule("Projects that are indexed at the same time.", low=1, high=1_024, remote=True)
    ] = 2
    git_schemes: Annotated[tuple[str, ...], SettingRule("How repositories are fetched.", choices=_GIT, remote=True)] = (
        _GIT[:2]
    )
    clone_max_bytes: Annotated[int, SettingRule("Most bytes of a fetched one.", low=1, remote=True)] = 1_000_000_000
    clone_timeout_s: Annotated[
        float, SettingRule("Seconds in which it must be here.", low=1, high=1_000_000, remote=True)
    ] = 600.0
    log: Annotated[
        str, SettingRule("How the server writes its log on stderr.", choices=("text", "json"), remote=True)
    ] = "text"


class Served(NamedTuple):
    """What holds for settings of which a part came over HTTP: keys are kept to these addresses.

    Whoever asks over HTTP does not see the words of a server that failed either.
    """

    addresses: frozenset[str] = frozenset()  # that the user's own settings and environment name


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
    llm: LlmSettings = LlmSettings()
    answer: AnswerSettings = AnswerSettings()
    agent: AgentSettings = AgentSettings()
    index: IndexSettings = IndexSettings()  # type: ignore[assignment]  # hides tuple.index, which nobody needs here
    server: ServerSettings = ServerSettings()
    origins: Mapping[str, str] = NOTHING
    refused: Mapping[str, str] = NOTHING  # what the project's file says and does not count: by key, in a sentence each
    served: Served | None = None  # None: nothing of it came over HTTP


class KnownSetting(NamedTuple):
    """What can be said about one setting without reading anything."""

    key: str
    default: Any
    rule: SettingRule

    def shown(self, value: Any) -> Any:
        """Return a value as it may be said: without logins in addresses, and of tokens only the names."""
        if self.key == "server.tokens":
            return tuple(text.partition(":")[0] for text in value)
        if self.key.endswith(".base_url"):
            return without_login(value)
        if self.rule.remote and isinstance(value, str):
            return shown_model(value)
        return tuple(map(shown_model, value)) if self.key == "llm.prices" else value


SECTIONS = tuple(name for name in Settings._fields if name not in {"origins", "refused", "served"})


def known_settings() -> tuple[KnownSetting, ...]:
    """All settings in the order in which they are declared."""
    found = []
    for section in SECTIONS:
        kind = type(getattr(Settings(), section))
        hints = get_type_hints(kind, include_extras=True)
        found += [
            KnownSetting(f"{section}.{name}", kind._field_defaults[name], hints[name].__metadata__[0]) for name in hints
        ]
    return tuple(found)
