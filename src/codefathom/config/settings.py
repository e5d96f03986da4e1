"""All settings as one frozen tree. The faces, the engine, `project` and `remote` read it and give plain values on."""

# Without `from __future__ import annotations`: the texts would be compiled again for each named tuple, 2 ms in all.
from collections.abc import Mapping
from types import MappingProxyType
from typing import Annotated, Any, NamedTuple, get_type_hints

from codefathom.config.model_names import model_and_address, shown_model
from codefathom.errors import without_login
from codefathom.facts.languages import titles_of_documents
from codefathom.source.size_limits import MAX_DOCUMENT_BYTES, MAX_WHOLE_FILE_BYTES, MOST_REVISION_FILES
from codefathom.system.adapters import VECTOR_STORES
from codefathom.types.choices import LEVELS, MODES
from codefathom.types.prices import Prices

NOTHING: Mapping[str, Any] = MappingProxyType({})
# As people write them; source/charset.py has the codec of each.
_ENCODINGS = (
    *("gbk", "gb18030", "big5", "shift_jis", "euc-jp", "euc-kr", "windows-1250", "windows-1251", "windows-1252"),
    *("iso-8859-1", "iso-8859-2", "iso-8859-15", "koi8-r", "cp437", "cp850", "cp866", "macintosh"),
)
_GIT = ("https", "ssh", "http", "git", "file")


LEAST_CONTEXT = 50  # tokens: in fewer a line of code with its path often has no room


class SettingRule(NamedTuple):
    """The help of a setting, and the values that it takes."""

    help: str
    choices: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    local: bool = False  # a path which a project file must keep inside the project
    remote: bool = False  # where text may be sent: a project file must not set it
    form: str = ""  # regular expression that each text of a list must match
    example: str = ""  # such a text


class SourceSettings(NamedTuple):
    """Files that are indexed."""

    dir: Annotated[str, SettingRule("Folder to index, relative to the root of the project.", local=True)] = "."
    required_exts: Annotated[
        tuple[str, ...],
        SettingRule(
            "Index only files whose names end with one of these, such as .py or Dockerfile, in any case; *.py is "
            "understood as .py. Empty: all files.",
            form=r"(\*\*/)?\*?[^*?\[\]{}/\\]+",
            example="an ending such as .py; what holds for paths belongs to source.ignore",
        ),
    ] = ()
    ignore: Annotated[
        tuple[str, ...],
        SettingRule(
            "More ignore patterns, in the syntax of .gitignore; they take precedence over the ignore files of the "
            "project."
        ),
    ] = ()
    fleet_branches: Annotated[
        tuple[str, ...],
        SettingRule(
            "Branches of the repositories of a fleet that are read beside the default one, such as main or release-*; "
            "at most 20 of a repository.",
            form=r"[^\s\x00-\x1f\x7f~^:?\[\\]{1,200}",
            example="the name of a branch, in which * stands for any signs",
        ),
    ] = ()
    follow_symlinks: Annotated[bool, SettingRule("Follow symbolic links that point to places inside the project.")] = (
        False
    )
    max_file_bytes: Annotated[
        int,
        SettingRule(
            "Largest file that is indexed, in bytes; larger files are skipped and listed as oversized.",
            low=1,
            high=10_000_000_000,
        ),
    ] = MAX_WHOLE_FILE_BYTES
    include_generated: Annotated[bool, SettingRule("Index generated, minified and vendored files too.")] = False
    encoding: Annotated[
        str,
        SettingRule(
            "Encoding of files that are not UTF-8 and do not declare an encoding; `auto` detects it from all such "
            "files together.",
            choices=("auto", *_ENCODINGS),
        ),
    ] = "auto"
    secrets: Annotated[
        str,
        SettingRule(
            "How the index stores secrets: `mask` replaces each value by meaningless characters, so that the value "
            "is stored nowhere; `keep` stores the value.",
            choices=("mask", "keep"),
        ),
    ] = "mask"
    max_document_bytes: Annotated[
        int,
        SettingRule(
            f"Largest {titles_of_documents()} that is indexed, in bytes; `source.max_file_bytes` does not count for "
            "them.",
            low=1,
            high=1_000_000_000,
        ),
    ] = MAX_DOCUMENT_BYTES
    revision_files: Annotated[
        int,
        SettingRule(
            "Maximum number of files of a commit, for `--rev` and `fathom impact`. If its files are mostly copies of "
            "each other, the limit is a tenth of this, because a few git trees can list millions of such files.",
            low=1,
        ),
    ] = MOST_REVISION_FILES


class ParseSettings(NamedTuple):
    """Parsing: finding the symbols in files."""

    chain: Annotated[
        tuple[str, ...],
        SettingRule(
            "Parsers in the order in which they are tried; the first one that can parse a file is used.",
            choices=("treesitter", "llm", "text"),
        ),
    ] = ("treesitter", "text")


class ChunkSettings(NamedTuple):
    """Splitting files into chunks, the units that are searched."""

    target_chars: Annotated[
        int,
        SettingRule(
            "Size that chunks should have, in characters: larger definitions are split, smaller ones are grouped.",
            low=100,
            high=1_000_000,
        ),
    ] = 1_000
    max_lines: Annotated[int, SettingRule("Maximum number of lines in one chunk.", low=5, high=100_000)] = 60


_ROLE = r"(reader|indexer|maintainer|admin)"
_PROJECTS = r"(\*|[\w.*-]+(\+[\w.*-]+)*)"
_HOST = r"(https?://)?(\[[0-9A-Fa-f:.]+\]|[\w.-]+)(:\d{1,5})?"
_BASE_URL = SettingRule(
    "Server address for models whose names contain none; empty: the usual address of the provider.", remote=True
)


class EmbedSettings(NamedTuple):
    """The embedding model. Keys come from the environment, such as OPENAI_API_KEY, or from a keyring."""

    model: Annotated[
        str,
        SettingRule(
            "Embedding model. `bundled` is part of the package. Other examples: ollama:nomic-embed-text, "
            "openai:text-embedding-3-small, openai:NAME@http://localhost:8000/v1 (a model at another address), "
            "onnx:FOLDER and model2vec:FOLDER (models on this disk).",
            remote=True,
        ),
    ] = "bundled"
    base_url: Annotated[str, _BASE_URL] = ""
    dimensions: Annotated[
        int, SettingRule("Most dimensions of the vectors; 0: as many as the model produces.", low=0, high=65_536)
    ] = 0
    reduce: Annotated[
        str,
        SettingRule(
            "How vectors get the length `embed.dimensions`: `ask` requests it from the model, and does as `project` "
            "with the vectors of a model that cannot be asked, such as the bundled one; `truncate` cuts the vectors; "
            "`project` multiplies them by a fixed random matrix.",
            choices=("ask", "truncate", "project"),
        ),
    ] = "ask"
    batch: Annotated[int, SettingRule("Maximum number of texts in one call of the model.", low=1, high=100_000)] = 1_024
    batch_tokens: Annotated[
        int, SettingRule("Maximum number of tokens in one call of a remote model; the number is estimated.", low=1)
    ] = 32_000
    max_tokens: Annotated[
        int,
        SettingRule(
            "Maximum number of tokens of one text; the model does not get the part of a text beyond it.", low=1
        ),
    ] = 8_000
    query_prefix: Annotated[
        str,
        SettingRule("Text that is put before each query; `auto` uses the prefix that the model is known to expect."),
    ] = "auto"
    document_prefix: Annotated[
        str,
        SettingRule(
            "Text that is put before each indexed text; `auto` uses the prefix that the model is known to expect."
        ),
    ] = "auto"
    timeout_s: Annotated[
        float, SettingRule("Time limit for one call of the embedding model, in seconds.", low=0.1, high=86_400)
    ] = 60.0
    threads: Annotated[
        int, SettingRule("Number of threads for an embedding model in ONNX format.", low=1, high=256)
    ] = 1


class StoreSettings(NamedTuple):
    """Storage of vectors: where the nearest of them are looked for. Results do not depend on it, unless `exact` is off.

    Keys and passwords come from the environment, such as QDRANT_API_KEY and PGPASSWORD.
    """

    vectors: Annotated[
        str,
        SettingRule(
            "Store of the vectors. `flat`, a file beside the index, compares a query with every vector, from 192,000 "
            "on in two steps; docs/stores.md describes the others.",
            choices=tuple(VECTOR_STORES),
        ),
    ] = "flat"
    url: Annotated[
        str,
        SettingRule(
            "Address of the store's server, such as http://localhost:6333, or for Qdrant a folder of yours; empty: the "
            "usual address of that store.",
            remote=True,
        ),
    ] = ""
    collection: Annotated[
        str,
        SettingRule(
            "Name of the collection or table in the store, which several projects can share; if the name contains "
            "{project}, each project has a separate one."
        ),
    ] = "codefathom"
    project: Annotated[
        str,
        SettingRule("Name of the project inside the collection; empty: its folder's name and a hash of its path."),
    ] = ""
    exact: Annotated[
        bool,
        SettingRule(
            "Compare a query with every vector; off: use the approximate index of the store, which is faster with "
            "many vectors and may miss some."
        ),
    ] = True
    hnsw_m: Annotated[int, SettingRule("Number of links of each vector in an HNSW index.", low=2, high=100)] = 16
    hnsw_ef_construct: Annotated[
        int, SettingRule("Number of vectors that are compared when an HNSW index takes in one.", low=4, high=1_000)
    ] = 200
    hnsw_ef: Annotated[
        int,
        SettingRule(
            "Number of vectors that a search in an HNSW index follows; 0: eight times the number of candidates, from "
            "32 to 256.",
            low=0,
            high=1_000,
        ),
    ] = 0
    on_disk: Annotated[bool, SettingRule("Keep the vectors of a server on its disk, not in its memory.")] = False
    batch: Annotated[int, SettingRule("Maximum number of vectors in one call of the store.", low=1, high=10_000)] = (
        1_000
    )
    timeout_s: Annotated[
        float, SettingRule("Time limit for one call of the store, in seconds.", low=0.1, high=3_600)
    ] = 30.0


class SearchSettings(NamedTuple):
    """Searching and ranking."""

    limit: Annotated[int, SettingRule("Maximum number of hits of a search.", low=1, high=1_000)] = 10
    level: Annotated[
        str,
        SettingRule(
            "Unit of a hit: a whole file, a whole symbol, a whole function or method, or a chunk (some lines).",
            choices=LEVELS,
        ),
    ] = "chunk"
    mode: Annotated[str, SettingRule("How hits are ranked; `auto` chooses the mode for each query.", choices=MODES)] = (
        "auto"
    )
    candidates: Annotated[
        int,
        SettingRule(
            "Maximum number of candidates that each ranking contributes before the rankings are fused.",
            low=1,
            high=10_000,
        ),
    ] = 100
    fusion: Annotated[
        str,
        SettingRule(
            "How the rankings by words and by vectors are fused: `rrf` is reciprocal rank fusion, `weighted` is a "
            "weighted sum of the scaled scores.",
            choices=("rrf", "weighted"),
        ),
    ] = "rrf"
    ranking: Annotated[
        str,
        SettingRule(
            "The score that orders the hits: `learned` is a weighted sum of many signals, `fused` the sum of the "
            "rankings by words and by vectors alone.",
            choices=("learned", "fused"),
        ),
    ] = "learned"
    rrf_k: Annotated[
        int,
        SettingRule(
            "Constant k of reciprocal rank fusion; with a larger value, the first ranks have less advantage.", low=1
        ),
    ] = 60
    lexical_weight: Annotated[
        float,
        SettingRule(
            "Weight of the ranking by words when the rankings are fused, both with `rrf` and with `weighted`.",
            low=0.0,
            high=1.0,
        ),
    ] = 0.6
    vector_weight: Annotated[
        float,
        SettingRule(
            "Weight of the ranking by vectors when the rankings are fused, both with `rrf` and with `weighted`.",
            low=0.0,
            high=1.0,
        ),
    ] = 0.4
    min_similarity: Annotated[
        float,
        SettingRule(
            "Ignore the meaning of a chunk unless its cosine similarity to the query is above this value; 0: never.",
            low=0.0,
            high=1.0,
        ),
    ] = 0.0
    expression_timeout_s: Annotated[
        float,
        SettingRule(
            "Time limit for all regular expressions of one search together, in seconds of computing time.",
            low=0.1,
            high=600.0,
            remote=True,
        ),
    ] = 10.0
    fleet_timeout_s: Annotated[
        float,
        SettingRule(
            "Time limit for one question to a fleet, in seconds: no further shard is asked after it, and the answer "
            "names the shards and repositories that were not asked.",
            low=0.0001,
            high=3600.0,
        ),
    ] = 30.0
    fleet_cluster: Annotated[
        str,
        SettingRule(
            "Address HOST:PORT of a Ray cluster whose machines read the shards of fleets, see docs/scale.md; empty: "
            "this machine reads them.",
            remote=True,
        ),
    ] = ""
    fleet_store: Annotated[
        str,
        SettingRule(
            "Where the machines of a cluster find the shards of fleets: a folder that all of them see, or "
            "s3://BUCKET/FOLDER; each keeps copies on its own disk. Empty: the folder of the fleet, which all see.",
            remote=True,
        ),
    ] = ""
    refresh: Annotated[
        str,
        SettingRule(
            "Whether a search updates the index first: `auto` does so unless many files changed "
            "(search.refresh_max_files), `always` in any case; `never` searches the index as it is.",
            choices=("auto", "always", "never"),
        ),
    ] = "auto"
    refresh_max_files: Annotated[
        int,
        SettingRule(
            "With `search.refresh = auto`: if more files than this changed, the search does not update the index "
            "first.",
            low=0,
        ),
    ] = 500


class RerankSettings(NamedTuple):
    """The last ranking step, with or without a reranking model, and the number of sources for an answer."""

    candidates: Annotated[
        int,
        SettingRule(
            "Number of candidates that are ranked after the rankings by words and by vectors are fused.",
            low=1,
            high=10_000,
        ),
    ] = 100
    top_n: Annotated[
        int,
        SettingRule("Maximum number of sources that are sent to a language model for an answer.", low=1, high=1_000),
    ] = 8
    model: Annotated[
        str,
        SettingRule(
            "Reranking model: onnx:FOLDER (a cross-encoder on this disk), http:NAME@http://localhost:8000/v1 or just "
            "http://localhost:8080 (a server with the route /rerank); empty: none.",
            remote=True,
        ),
    ] = ""
    base_url: Annotated[
        str, SettingRule("Server address for a reranking model whose name contains none.", remote=True)
    ] = ""
    depth: Annotated[
        int, SettingRule("Number of candidates, the best ones, that the reranking model reads.", low=1, high=10_000)
    ] = 20
    weight: Annotated[
        float,
        SettingRule(
            "Weight of the reranking model's grades against the ranking before it: 0 ignores the grades, 1 uses only "
            "them.",
            low=0.0,
            high=1.0,
        ),
    ] = 0.5
    max_tokens: Annotated[
        int, SettingRule("Maximum number of tokens of a query together with one text; the text is cut to fit.", low=8)
    ] = 512
    timeout_s: Annotated[
        float, SettingRule("Time limit for one call of the reranking model, in seconds.", low=0.1, high=86_400)
    ] = 10.0
    threads: Annotated[int, SettingRule("Number of threads for a reranking model in ONNX format.", low=1, high=256)] = 1


class SelectSettings(NamedTuple):
    """Selection of sources by a language model; without a model it is skipped."""

    filter_level: Annotated[
        int,
        SettingRule(
            "How the sources of an answer are chosen: 0: the hits of the search, one call of a language model for the "
            "answer; 1: a language model selects and judges them first, in many calls; 2: as 1, and related files "
            "are added; -1: 1 if a language model is configured, else 0.",
            low=-1,
            high=2,
        ),
    ] = 0
    max_input_tokens: Annotated[
        int,
        SettingRule(
            "Maximum number of tokens in one call of the selecting or judging model; 0: as many as the model takes.",
            low=0,
        ),
    ] = 0


class JudgeSettings(NamedTuple):
    """Judging of sources by a language model."""

    relevance_threshold: Annotated[
        int, SettingRule("Lowest grade, from 0 to 10, with which a code file is kept as a source.", low=0, high=10)
    ] = 6
    doc_relevance: Annotated[
        int,
        SettingRule(
            "Lowest grade, from 0 to 10, with which a text document, such as Markdown, is kept as a source.",
            low=0,
            high=10,
        ),
    ] = 5
    workers: Annotated[
        int,
        SettingRule(
            "Number of calls of a language model at the same time: for judging sources, for parsing (parse.chain) "
            "and for index.purposes.",
            low=1,
            high=256,
        ),
    ] = 5


class ContextSettings(NamedTuple):
    """The context: the files and excerpts for a prompt."""

    max_files: Annotated[int, SettingRule("Maximum number of files in a context.", low=1, high=10_000)] = 10
    window: Annotated[int, SettingRule("Maximum number of tokens in a context.", low=LEAST_CONTEXT)] = 120_000
    full_text_ratio: Annotated[
        float, SettingRule("Share of context.window that whole files may take.", low=0.0, high=1.0)
    ] = 0.6
    segment_ratio: Annotated[
        float, SettingRule("Share of context.window that excerpts may take.", low=0.0, high=1.0)
    ] = 0.35
    disable_auto_window: Annotated[
        bool,
        SettingRule(
            "Judge each whole file in a separate call: small files do not share a call, and large files are not "
            "divided. "
            "Also use context.window unchanged, even if the model accepts less."
        ),
    ] = False
    disable_segment_reorder: Annotated[
        bool, SettingRule("Keep excerpts in the order of the search, instead of ordering them by line.")
    ] = False
    tokenizer_path: Annotated[
        str,
        SettingRule(
            "Path of a tokenizer.json with which tokens are counted; empty: their number is estimated.", local=True
        ),
    ] = ""


class LimitsSettings(NamedTuple):
    """Limits for calls of remote providers."""

    min_interval_ms: Annotated[
        int,
        SettingRule(
            "Minimum milliseconds between two calls of a provider; the default does not apply to a provider on this "
            "machine.",
            low=0,
            high=600_000,
        ),
    ] = 250
    requests_per_minute: Annotated[
        int, SettingRule("Maximum number of calls of a remote provider in a minute; 0: no limit.", low=0)
    ] = 0
    tokens_per_minute: Annotated[
        int,
        SettingRule("Maximum number of tokens sent to a remote provider in a minute, estimated; 0: no limit.", low=0),
    ] = 0
    attempts: Annotated[
        int, SettingRule("Maximum number of attempts of a call that fails for a temporary reason.", low=1, high=100)
    ] = 5


class LlmSettings(NamedTuple):
    """Language models. Keys come from the environment, such as OPENAI_API_KEY, or from a keyring."""

    model: Annotated[
        str,
        SettingRule(
            "Language model, as PROVIDER:NAME, such as openai:gpt-5-mini or ollama:qwen2.5-coder:14b, or "
            "openai:NAME@http://localhost:8000/v1 for a model at another address; empty: none.",
            remote=True,
        ),
    ] = ""
    base_url: Annotated[str, _BASE_URL] = ""
    connect_timeout_s: Annotated[
        float, SettingRule("Time limit for connecting to the model's server, in seconds.", low=0.1, high=86_400)
    ] = 10.0
    read_timeout_s: Annotated[
        float, SettingRule("Time limit for each next piece of a reply, in seconds.", low=0.1, high=86_400)
    ] = 600.0
    window: Annotated[
        int,
        SettingRule(
            "Number of tokens that the model takes in one call; for sources there must be room for "
            f"{LEAST_CONTEXT} beside answer.max_tokens. 0: unknown.",
            low=0,
        ),
    ] = 0
    index: Annotated[
        str,
        SettingRule("Model that parses files (parse.chain) and writes index.purposes; empty: llm.model.", remote=True),
    ] = ""  # type: ignore[assignment]
    select: Annotated[
        str,
        SettingRule(
            "Model that selects files for an answer, such as ollama:qwen2.5-coder:14b; empty: llm.model.", remote=True
        ),
    ] = ""
    judge: Annotated[
        str,
        SettingRule(
            "Model that judges files for an answer, such as ollama:qwen2.5-coder:14b; empty: llm.model.", remote=True
        ),
    ] = ""
    excerpt: Annotated[
        str,
        SettingRule(
            "Model that chooses excerpts of large files, such as ollama:qwen2.5-coder:14b; empty: llm.model.",
            remote=True,
        ),
    ] = ""
    answer: Annotated[
        str,
        SettingRule("Model that writes the answer, such as ollama:qwen2.5-coder:14b; empty: llm.model.", remote=True),
    ] = ""
    agent: Annotated[
        str,
        SettingRule(
            "Model that works as an agent (`fathom ask --agent`), such as ollama:qwen2.5-coder:14b; empty: llm.model.",
            remote=True,
        ),
    ] = ""
    prompt_price: Annotated[
        float, SettingRule("Price of a million tokens sent to a model, in any currency; 0: unknown.", low=0.0)
    ] = 0.0
    completion_price: Annotated[
        float,
        SettingRule("Price of a million tokens received from a model, in the same currency; 0: unknown.", low=0.0),
    ] = 0.0
    prices: Annotated[
        tuple[str, ...],
        SettingRule(
            "Prices of single models, each as MODEL=SENT/RECEIVED for a million tokens, such as "
            "openai:gpt-5-mini=0.25/2; all other models have the two prices above.",
            form=r".+=\d+(\.\d+)?/\d+(\.\d+)?",
            example="openai:gpt-5-mini=0.25/2",
        ),
    ] = ()

    def of(self, role: str) -> str:
        """Return the model of a role, "" when there is none."""
        return str(getattr(self, role) or self.model)

    def prices_of(self, model: str) -> Prices:
        """Return the prices of a model: its own at its address, else its own anywhere, else those of all models."""
        entries = (entry.rpartition("=") for entry in self.prices)
        price_of = {shown_model(name): price for name, _, price in entries}
        name = shown_model(model)
        price = price_of.get(name) or price_of.get(model_and_address(name).model)
        if price is None:
            return Prices(self.prompt_price, self.completion_price)
        sent, received = map(float, price.split("/"))
        return Prices(sent, received, is_free=not sent and not received)


class AnswerSettings(NamedTuple):
    """Writing of answers."""

    max_tokens: Annotated[int, SettingRule("Maximum number of tokens in an answer.", low=1)] = 2_048
    context_tokens: Annotated[
        int,
        SettingRule(
            "Maximum number of tokens that the model is sent for an answer with select.filter_level = 0; with more "
            "stages context.window is the limit.",
            low=1,
        ),
    ] = 8_000
    least_confidence: Annotated[
        float, SettingRule("If the confidence of the search is below this value, no model is asked.", low=0.0, high=1.0)
    ] = 0.02
    filter_hint: Annotated[
        str, SettingRule("A sentence for the judging model on what is important in this project.")
    ] = ""
    mask_secrets: Annotated[
        bool, SettingRule("Mask secrets in everything that is sent to a remote provider.", remote=True)
    ] = True


class AgentSettings(NamedTuple):
    """Limits for the work of an agent."""

    rounds: Annotated[
        int,
        SettingRule(
            "Maximum number of rounds for one question; in the last round the agent has no tools and must answer.",
            low=1,
            high=1_000,
        ),
    ] = 6
    max_tokens: Annotated[
        int, SettingRule("Maximum number of tokens of all rounds together; then the agent must answer.", low=1)
    ] = 200_000
    max_seconds: Annotated[
        float, SettingRule("Time limit for all rounds together, in seconds; then the agent must answer.", low=1)
    ] = 900.0
    max_cost: Annotated[
        float,
        SettingRule(
            "Maximum cost of all rounds together, by the prices of the model (llm.prices); then the agent must "
            "answer; 0: no limit.",
            low=0.0,
        ),
    ] = 0.0


class IndexSettings(NamedTuple):
    """The index: its place, and how it is made."""

    dir: Annotated[str, SettingRule("Folder of the index; empty: .fathom in the project.", local=True)] = ""
    error_share: Annotated[
        float, SettingRule("An indexing run pauses when more than this share of its files failed.", low=0.0, high=1.0)
    ] = 0.30
    error_minimum: Annotated[
        int, SettingRule("Number of files that a run must have processed before index.error_share applies.", low=1)
    ] = 50
    workers: Annotated[
        int, SettingRule("Number of processes that parse files; 0: one for each processor.", low=0, high=1_024)
    ] = 0
    wait_s: Annotated[
        float,
        SettingRule(
            "Time limit for waiting while another process writes the index, in seconds; 0: fail at once.",
            low=0.0,
            high=86_400.0,
        ),
    ] = 300.0
    watch: Annotated[
        str,
        SettingRule(
            "How `fathom index --watch` and the server notice changed files: `events` of the system, also on a network "
            "drive; `polling`: they check all files again and again; `auto`: events, but polling on a network drive "
            "and if events are not available.",
            choices=("auto", "events", "polling"),
        ),
    ] = "auto"
    fleet_watch_s: Annotated[
        float,
        SettingRule(
            "Seconds between two looks at the sources of a fleet, for `fathom fleet index --watch` and for a fleet "
            "that the server watches: what has changed there is fetched and indexed.",
            low=1,
            high=604_800,
        ),
    ] = 600.0
    purposes: Annotated[
        bool,
        SettingRule(
            "Ask a language model during `fathom index` for a line on the purpose of each file; answers use it to "
            "select files.",
            remote=True,
        ),
    ] = False
    siblings: Annotated[
        bool,
        SettingRule(
            "Begin the first index of a worktree, clone or copy of a project that you have indexed with a copy of "
            "that index, and then read and compare each file.",
        ),
    ] = True
    kept_revisions: Annotated[
        int,
        SettingRule(
            "Number of indexes of revisions (`--rev`) that are kept for a project; when one more is made, the one that "
            "has not been used for the longest time is removed. 0: no limit.",
            low=0,
            high=100_000,
        ),
    ] = 10
    kept_revision_bytes: Annotated[
        int,
        SettingRule(
            "Maximum size of these indexes together, in bytes; those that have not been used for the longest time are "
            "removed, but not the newest one. 0: no limit.",
            low=0,
        ),
    ] = 5_000_000_000
    min_tokens: Annotated[
        int,
        SettingRule(
            "Minimum number of tokens of a file that is embedded; 0: no limit. A shorter file is found by words, "
            "names and "
            "regular expressions, and a hit shows all of it. A token is estimated as 3 bytes.",
            low=0,
            high=1_000_000_000,
        ),
    ] = 0
    max_tokens: Annotated[
        int,
        SettingRule(
            "Maximum number of estimated tokens of a file that is embedded; 0: no limit. A longer file is found by "
            "words, "
            "names and regular expressions.",
            low=0,
            high=1_000_000_000,
        ),
    ] = 0


class HistorySettings(NamedTuple):
    """The commits of git, which `fathom search --commits` and `fathom history` answer from."""

    commits: Annotated[
        int,
        SettingRule(
            "Number of commits, the latest first, whose messages and changed lines are searched by `--commits`; their "
            "index is made at the first such question. 0: no commit is indexed.",
            low=0,
            high=1_000_000,
        ),
    ] = 10_000


class McpSettings(NamedTuple):
    """The tools for coding agents: `fathom mcp`, and `/mcp` of `fathom serve`."""

    secrets: Annotated[
        str,
        SettingRule(
            "Text that the tools show in the place of a secret: `mask` shows a mark, because an agent sends the text "
            "to "
            "its model; `show` shows the value.",
            choices=("mask", "show"),
        ),
    ] = "mask"
    structured: Annotated[
        str,
        SettingRule(
            "Form of the answers of the tools: `always` gives a text and the same as JSON, of which a host shows its "
            "model one or both; `never` gives the text alone, which has fewer tokens.",
            choices=("always", "never"),
        ),
    ] = "always"


class TeamSettings(NamedTuple):
    """The keys of people and machines whose index snapshots you believe."""

    keys: Annotated[
        tuple[str, ...],
        SettingRule(
            "Public keys (Ed25519, as OpenSSH writes them): `fathom import` trusts a snapshot that one of them has "
            "signed. "
            "If a key is set, a snapshot without a signature is refused, except with `--check all`.",
            form=r"ssh-ed25519 [A-Za-z0-9+/]{68}( .*)?",
            example="ssh-ed25519 AAAA… NAME, the content of the file that ends with .pub",
        ),
    ] = ()


class ServerSettings(NamedTuple):
    """The server, `fathom serve`. Only your own file, the environment and arguments set these, never a project."""

    host: Annotated[
        str,
        SettingRule("Address to listen on; an address that other machines can reach requires a token.", remote=True),
    ] = "127.0.0.1"
    port: Annotated[int, SettingRule("Port to listen on; 0: any free port.", low=0, high=65_535, remote=True)] = 8_900
    root_path: Annotated[
        str,
        SettingRule(
            "Path below which a proxy serves this server, such as /code; the proxy may strip it from requests or leave "
            "it there. Empty: the root, or the path in the header X-Forwarded-Prefix of a proxy of "
            "`server.trusted_proxies`.",
            remote=True,
        ),
    ] = ""
    tls_certificate: Annotated[
        str,
        SettingRule(
            "File with the certificate for HTTPS, in PEM format, with those that it depends on after it; empty: HTTP. "
            "A change counts from the next start.",
            remote=True,
        ),
    ] = ""
    tls_key: Annotated[
        str, SettingRule("File with the private key of `server.tls_certificate`, in PEM format.", remote=True)
    ] = ""
    data_dir: Annotated[
        str,
        SettingRule(
            "Folder for the server's projects, jobs and conversations; empty: a folder in your data folder.",
            remote=True,
        ),
    ] = ""
    allowed_roots: Annotated[
        tuple[str, ...], SettingRule("Folders that may contain projects; empty: your home folder.", remote=True)
    ] = ()
    tokens: Annotated[
        tuple[str, ...],
        SettingRule(
            "Tokens that give access, each as NAME:HASH, printed by `fathom serve --new-token NAME`, for an "
            "administrator; as NAME:HASH:PROJECT+PROJECT to ask, read and index in these projects only; or as "
            "NAME:HASH:PROJECT+PROJECT:ROLE with a role of `server.roles`, * instead of the projects for all of them.",
            form=rf"[\w.-]+:[0-9a-f]{{64}}(:{_PROJECTS}(:{_ROLE})?)?",
            example="NAME:HASH, NAME:HASH:PROJECT+PROJECT or NAME:HASH:PROJECT+PROJECT:ROLE, HASH with 64 signs",
            remote=True,
        ),
    ] = ()
    roles: Annotated[
        tuple[str, ...],
        SettingRule(
            "What people who sign in may do, each as WHO=ROLE or WHO=ROLE:PROJECT+PROJECT. WHO is a name, @GROUP, or * "
            "for everybody who has signed in; the projects may be patterns such as shop-*. A reader asks and reads; an "
            "indexer indexes, too; a maintainer also changes settings of the project, watches it and removes its "
            "index; an admin of a project also removes it, and an admin of all projects administers the server. All "
            "lines that fit count together; a person whom no line fits sees nothing.",
            form=rf"[^=]+={_ROLE}(:{_PROJECTS})?",
            example="ada@example.org=admin, @platform=maintainer:shop+pay or *=reader",
            remote=True,
        ),
    ] = ()
    user_header: Annotated[
        str,
        SettingRule(
            "Header in which a proxy of `server.trusted_proxies` sends the name of the person who has signed in there, "
            "such as X-Forwarded-User. From all other addresses it is ignored. Empty: no header is used.",
            remote=True,
        ),
    ] = ""
    groups_header: Annotated[
        str,
        SettingRule(
            "Header in which that proxy sends the groups of the person, between commas, such as X-Forwarded-Groups; "
            "empty: no groups.",
            remote=True,
        ),
    ] = ""
    oidc_issuer: Annotated[
        str,
        SettingRule(
            "Address of the OpenID Connect provider at which people sign in on the page, exactly as the provider "
            "writes it, such as https://id.example.org/realms/main. The client secret comes from OIDC_CLIENT_SECRET "
            "in the environment, or from a keyring. Empty: nobody signs in that way.",
            remote=True,
        ),
    ] = ""
    oidc_client_id: Annotated[
        str, SettingRule("Name (client id) under which this server is registered at the provider.", remote=True)
    ] = ""
    oidc_scopes: Annotated[
        tuple[str, ...],
        SettingRule(
            "Scopes that the server asks the provider for; `openid` is always added. Many providers have a scope for "
            "groups.",
            form=r"[!#-\[\]-~]+",
            example="groups",
            remote=True,
        ),
    ] = ("openid", "profile", "email")
    oidc_name_claim: Annotated[
        str,
        SettingRule(
            "Claim of the provider that is the name of a person in `server.roles`. It must be different for each "
            "person, and people must not be able to change it. With `email` the provider must also say that it has "
            "verified the address.",
            remote=True,
        ),
    ] = "email"
    oidc_groups_claim: Annotated[
        str,
        SettingRule(
            "Claim with the groups of a person, for the @GROUP lines of `server.roles`, such as groups; a.b is b "
            "inside a. Empty: no groups.",
            remote=True,
        ),
    ] = ""
    oidc_session_hours: Annotated[
        int,
        SettingRule(
            "Hours after which a person who signed in at the provider must sign in again.",
            low=1,
            high=8_760,
            remote=True,
        ),
    ] = 12
    audit_days: Annotated[
        int,
        SettingRule("Days for which the server keeps the list of who did what.", low=1, high=3_650, remote=True),
    ] = 365
    conversation_days: Annotated[
        int,
        SettingRule(
            "Days for which the server keeps a conversation after its last question, then it is deleted; 0: for ever.",
            low=0,
            high=3_650,
            remote=True,
        ),
    ] = 0
    hosts: Annotated[
        tuple[str, ...],
        SettingRule("Host names of this server, in addition to localhost and IP addresses.", remote=True),
    ] = ()
    cors: Annotated[
        tuple[str, ...],
        SettingRule(
            "Origins of other web pages that may send requests from a browser, such as https://code.example.org.",
            form=r"https?://[^/\s]+",
            example="https://code.example.org",
            remote=True,
        ),
    ] = ()
    model_hosts: Annotated[
        tuple[str, ...],
        SettingRule(
            "Hosts on which a project, with settings sent over HTTP, may use models, in addition to the addresses in "
            "your own settings; each is a host, or a URL with scheme and port, such as gpu.example or "
            "https://gpu.example:8443.",
            form=_HOST,
            example="gpu.example or https://gpu.example:8443",
            remote=True,
        ),
    ] = ("localhost", "127.0.0.1", "[::1]")
    sessions: Annotated[
        bool,
        SettingRule(
            "Answer the sessions of `fathom mcp` of this user in one process beside the server, so that each needs "
            "little memory; `fathom mcp --alone` does not ask for it. On Linux.",
            remote=True,
        ),
    ] = True
    opened_projects: Annotated[
        int, SettingRule("Maximum number of indexes that are kept open.", low=1, high=10_000, remote=True)
    ] = 8
    cache_ttl_s: Annotated[
        float,
        SettingRule(
            "Time for which a search result is kept in memory, in seconds; 0: none is kept.", low=0, remote=True
        ),
    ] = 300.0
    cache_entries: Annotated[
        int, SettingRule("Maximum number of search results that are kept in memory.", low=1, remote=True)
    ] = 1_000
    max_body_bytes: Annotated[int, SettingRule("Largest body of a request, in bytes.", low=1, remote=True)] = 2_000_000
    read_timeout_s: Annotated[
        float,
        SettingRule(
            "Time limit for receiving the head of a request, and again for its body, in seconds.",
            low=0.1,
            high=86_400,
            remote=True,
        ),
    ] = 30.0
    write_timeout_s: Annotated[
        float,
        SettingRule(
            "Time limit, in seconds, in which a client must read some of its answer; then the connection is closed.",
            low=0.1,
            high=86_400,
            remote=True,
        ),
    ] = 30.0
    connections: Annotated[
        int,
        SettingRule(
            "Maximum number of connections at the same time, and at most half of the files that the system lets the "
            "server open. For one more connection, the server closes the one that has been idle for the longest "
            "time.",
            low=1,
            remote=True,
        ),
    ] = 500
    connections_of_one: Annotated[
        int,
        SettingRule(
            "Maximum number of connections from one address. For a client behind a proxy of `server.trusted_proxies` "
            "it is the maximum number of requests at the same time.",
            low=1,
            remote=True,
        ),
    ] = 200
    trusted_proxies: Annotated[
        tuple[str, ...],
        SettingRule(
            "Addresses or networks of the proxies in front of the server, such as 127.0.0.1 or "
            "10.0.0.0/8. The headers X-Forwarded-For, -Proto, -Host and -Prefix are used from these only, and limits "
            "hold for each client behind them, not for the proxy.",
            remote=True,
        ),
    ] = ()
    requests_per_minute: Annotated[
        int,
        SettingRule(
            "Maximum number of requests in a minute from one token or one address; 0: no limit.", low=0, remote=True
        ),
    ] = 1_200
    search_processes: Annotated[
        int,
        SettingRule(
            "Number of searches that run at the same time, each in its own process; 0: one for each processor, up to "
            "4.",
            low=0,
            high=1_024,
            remote=True,
        ),
    ] = 0
    search_timeout_s: Annotated[
        float,
        SettingRule(
            "Time limit for a search, including the time it waits for its turn, in seconds.",
            low=0.1,
            high=86_400,
            remote=True,
        ),
    ] = 30.0
    waiting_searches: Annotated[
        int,
        SettingRule(
            "Maximum number of searches that wait for their turn. Above it, the client that has most of them is "
            "refused.",
            low=1,
            remote=True,
        ),
    ] = 1_000
    jobs_at_once: Annotated[
        int,
        SettingRule("Maximum number of projects that are indexed at the same time.", low=1, high=1_024, remote=True),
    ] = 2
    watched_projects: Annotated[
        int, SettingRule("Maximum number of projects whose files the server watches.", low=0, high=10_000, remote=True)
    ] = 20
    git_schemes: Annotated[
        tuple[str, ...],
        SettingRule("Kinds of addresses from which repositories may be cloned.", choices=_GIT, remote=True),
    ] = _GIT[:2]
    clone_max_bytes: Annotated[
        int, SettingRule("Largest repository that the server clones, in bytes.", low=1, remote=True)
    ] = 1_000_000_000
    clone_max_files: Annotated[
        int,
        SettingRule(
            "Maximum number of files and folders of a repository that the server clones. If its files are mostly "
            "copies of each other, the limit is a tenth of this, because a few git trees can list millions of such "
            "files.",
            low=1,
            remote=True,
        ),
    ] = MOST_REVISION_FILES
    clone_timeout_s: Annotated[
        float, SettingRule("Time limit for cloning a repository, in seconds.", low=1, high=1_000_000, remote=True)
    ] = 600.0
    log: Annotated[str, SettingRule("Format of the server's log on stderr.", choices=("text", "json"), remote=True)] = (
        "text"
    )


class ServedSettings(NamedTuple):
    """Marks settings that partly came over HTTP: keys of models are sent to these addresses only.

    A client does not see the error text of another server either.
    """

    addresses: frozenset[str] = frozenset()  # that the user's own settings and environment name


class Settings(NamedTuple):
    """All settings, and in `origins` the place of each value that is not a default."""

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
    history: HistorySettings = HistorySettings()
    mcp: McpSettings = McpSettings()
    team: TeamSettings = TeamSettings()
    server: ServerSettings = ServerSettings()
    origins: Mapping[str, str] = NOTHING
    refused: Mapping[str, str] = NOTHING  # values of the project's file that are ignored: a sentence for each key
    served: ServedSettings | None = None  # None: nothing of it came over HTTP


class DeclaredSetting(NamedTuple):
    """The declaration of one setting: its key, its default and its rule."""

    key: str
    default: Any
    rule: SettingRule

    def shown(self, value: Any) -> Any:
        """Return a value as it may be shown: without logins in addresses, and of tokens only the names."""
        if self.key == "server.tokens":
            return tuple(text.partition(":")[0] for text in value)
        if self.key.endswith(".base_url"):
            return without_login(value)
        if self.rule.remote and isinstance(value, str):
            return shown_model(value)
        return tuple(map(shown_model, value)) if self.key == "llm.prices" else value


SECTIONS = tuple(name for name in Settings._fields if name not in {"origins", "refused", "served"})


def declared_settings() -> tuple[DeclaredSetting, ...]:
    """All settings in the order in which they are declared."""
    declared = []
    for section in SECTIONS:
        kind = type(getattr(Settings(), section))
        hints = get_type_hints(kind, include_extras=True)
        declared += [
            DeclaredSetting(f"{section}.{name}", kind._field_defaults[name], hints[name].__metadata__[0])
            for name in hints
        ]
    return tuple(declared)
