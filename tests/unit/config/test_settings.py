"""Settings: layers, origins, and what an unusable key or value says."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codefathom.compat.setting_names import SETTING_NAMES
from codefathom.config.configuration import find_root, load_settings
from codefathom.config.model_names import model_and_address, shown_model
from codefathom.config.settings import (
    LEAST_CONTEXT,
    EmbedSettings,
    IndexSettings,
    LlmSettings,
    Settings,
    declared_settings,
)
from codefathom.config.user_places import user_file
from codefathom.config.windows import check_room
from codefathom.errors import SettingsError
from codefathom.index import chunk
from codefathom.types import LEVELS, MODES


def value_of(settings: Settings, key: str) -> object:
    section, _, name = key.partition(".")
    return getattr(getattr(settings, section), name)


def with_file(folder: Path, text: str) -> Path:
    path = folder / "fathom.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_defaults_are_those_of_the_pure_stages() -> None:
    settings = load_settings("/nowhere")
    assert settings == Settings()
    assert (settings.chunk.target_chars, settings.chunk.max_lines) == (chunk.TARGET_CHARS, chunk.MAX_LINES)
    assert settings.search.level in LEVELS
    assert settings.search.mode in MODES
    assert not settings.origins


@pytest.mark.parametrize("known", declared_settings(), ids=lambda known: known.key)
def test_every_setting_is_explained_and_takes_its_own_default(known) -> None:
    assert known.rule.help.endswith(".")
    settings = load_settings("/nowhere", overrides={known.key: known.default})
    assert value_of(settings, known.key) == known.default
    assert settings.origins == {known.key: "argument"}


def test_each_layer_wins_over_the_one_below(tmp_path: Path) -> None:
    user = tmp_path / "user.toml"
    user.write_text("[search]\nlimit = 1\nrrf_k = 1\nmode = 'vector'\nfusion = 'weighted'\n")
    project = with_file(tmp_path, "[search]\nlimit = 2\nrrf_k = 2\nmode = 'lexical'\n")
    environment = {"FATHOM_SEARCH__LIMIT": "3", "FATHOM_SEARCH__RRF_K": "3", "PATH": "/bin"}
    settings = load_settings(str(tmp_path), overrides={"search.limit": "4"}, environ=environment, user_file=str(user))
    search = settings.search
    assert (search.limit, search.rrf_k, search.mode, search.fusion) == (4, 3, "lexical", "weighted")
    assert settings.origins == {
        "search.limit": "argument",
        "search.rrf_k": "environment FATHOM_SEARCH__RRF_K",
        "search.mode": str(project),
        "search.fusion": str(user),
    }


@pytest.mark.parametrize(
    ("key", "given_value", "expected"),
    [
        ("search.limit", "7", 7),
        ("search.limit", 7, 7),
        ("search.min_similarity", 1, 1.0),
        ("search.min_similarity", "0.25", 0.25),
        ("source.follow_symlinks", "yes", True),
        ("source.follow_symlinks", "0", False),
        ("source.required_exts", ".rs, .py,", (".rs", ".py")),
        ("source.required_exts", [".rs", ".py"], (".rs", ".py")),
        ("source.required_exts", "", ()),
        ("source.required_exts", '[".rs", ".py"]', (".rs", ".py")),  # as `fathom config` prints it
        ("source.ignore", "[]", ()),
        ("source.ignore", "[" * 5_000, ("[" * 5_000,)),
        ("source.ignore", "[Bb]in,x[0-9]", ("[Bb]in", "x[0-9]")),
        ("select.filter_level", "-1", -1),
        ("embed.model", "bundled", "bundled"),
        ("llm.prices", "a:b=1/2, c:d=0.5/10,", ("a:b=1/2", "c:d=0.5/10")),
        ("llm.prices", ["a:b@http://host/v1=1/2"], ("a:b@http://host/v1=1/2",)),
    ],
)
def test_values_are_read_as_what_the_setting_is(key: str, given_value: object, expected: object) -> None:
    value = value_of(load_settings("/nowhere", overrides={key: given_value}), key)
    assert value == expected
    assert type(value) is type(expected)


@pytest.mark.parametrize(
    ("key", "given_value", "remedy"),
    [
        ("search.limit", "many", "a whole number"),
        ("search.limit", True, "a whole number"),
        ("search.limit", 0, "from 1 to 1000"),
        ("search.limit", 1001, "from 1 to 1000"),
        ("judge.workers", 0, "from 1"),
        ("llm.prompt_price", -1, "from 0.0"),
        ("llm.completion_price", "2 euros", "a number"),
        ("agent.max_cost", float("nan"), "from 0.0"),
        *(
            ("llm.prices", price, "write each as openai:gpt-5-mini=0.25/2")
            for price in ("openai:m", "openai:m=1", "openai:m=-1/2", "=1/2", "openai:m=1/nan", ["a:b=1/2", "a:b=x/2"])
        ),
        ("judge.relevance_threshold", 11, "from 0 to 10"),
        ("search.mode", "psychic", "choose one of auto, hybrid"),
        ("search.min_similarity", float("nan"), "from 0.0 to 1.0"),
        ("source.follow_symlinks", "maybe", "true or false"),
        ("source.required_exts", [1], "a list of texts"),
        ("embed.model", 3, "text"),
    ],
)
def test_a_value_that_cannot_be_used_is_named_with_the_remedy(key: str, given_value: object, remedy: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings("/nowhere", overrides={key: given_value})
    assert key in str(caught.value)
    assert repr(given_value) in str(caught.value)
    assert remedy in caught.value.hint


@pytest.mark.parametrize(
    ("text", "said", "hint"),
    [
        ("[search]\nlimmit = 3", "search.limmit is not a setting", "did you mean search.limit?"),
        ("[serch]\nlimit = 3", "serch.limit is not a setting", "did you mean search.limit?"),
        ("duckdb_vector_dims = 3", "duckdb_vector_dims is not a setting", "did you mean duckdb_vector_dim?"),
        ("zzz = 3", "zzz is not a setting", "fathom config show"),
        ("[search]\nlimit = 'x'", "search.limit cannot be 'x'", "whole number"),
        ("duckdb_query_top_k = 'x'", "duckdb_query_top_k (search.candidates) cannot be 'x'", "whole number"),
        ("[search\n", "cannot read", "correct the file"),
    ],
)
def test_an_error_in_a_file_names_the_file(tmp_path: Path, text: str, said: str, hint: str) -> None:
    path = with_file(tmp_path, text)
    with pytest.raises(SettingsError) as caught:
        load_settings(str(tmp_path))
    assert str(path) in str(caught.value)
    assert said in str(caught.value)
    assert hint in caught.value.hint


def test_a_file_that_is_not_utf_8_is_an_error_too(tmp_path: Path) -> None:
    (tmp_path / "fathom.toml").write_bytes(b"a = '\xff'")
    with pytest.raises(SettingsError, match="cannot read"):
        load_settings(str(tmp_path))


@pytest.mark.parametrize(
    ("name", "said"),
    [
        ("FATHOM_SEARCH__LIMMIT", "search.limmit is not a setting"),
        ("FATHOM_NOTHING__X", "nothing.x is not a setting"),
        ("FATHOM_SEARCH_LIMIT", "FATHOM_SEARCH_LIMIT is not a setting"),
    ],
)
def test_a_wrong_variable_is_an_error(name: str, said: str) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings("/nowhere", environ={name: "3"})
    assert said in str(caught.value)


def test_one_underscore_is_answered_with_two() -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings("/nowhere", environ={"FATHOM_SEARCH_MIN_SIMILARITY": "3"})
    assert "FATHOM_SEARCH__MIN_SIMILARITY" in caught.value.hint


def test_other_variables_are_left_alone() -> None:
    others = {"FATHOM_DEBUG": "1", "FATHOM_CONFIG": "x", "FATHOM_INDEX_DIR": "/x", "FATHOM_CACHE_DIR": "/x"}
    assert load_settings("/nowhere", environ=others) == Settings()


@pytest.mark.parametrize(
    ("name", "given_value", "key", "expected"),
    [
        ("duckdb_vector_dim", 64, "embed.dimensions", 64),
        ("index_filter_file_num", 3, "context.max_files", 3),
        ("required_exts", ".rs,.py", "source.required_exts", (".rs", ".py")),
        ("skip_build_index", True, "search.refresh", "never"),
        ("skip_build_index", False, "search.refresh", "auto"),
        ("skip_filter_index", True, "select.filter_level", 0),
        ("enable_hybrid_index", "false", "search.mode", "lexical"),
        ("enable_hybrid_index", True, "search.mode", "hybrid"),
    ],
)
def test_the_first_documents_names_are_accepted(name: str, given_value: object, key: str, expected: object) -> None:
    assert value_of(load_settings("/nowhere", overrides={name: given_value}), key) == expected


def test_a_former_switch_takes_only_true_and_false() -> None:
    with pytest.raises(SettingsError, match=r"enable_hybrid_index \(search.mode\) cannot be 'maybe'"):
        load_settings("/nowhere", overrides={"enable_hybrid_index": "maybe"})


def test_every_alias_leads_to_a_setting() -> None:
    assert set(SETTING_NAMES.values()) <= {known.key for known in declared_settings()}


@pytest.mark.parametrize(("key", "place"), [("index.dir", "/tmp/x"), ("source.dir", ".."), ("index.dir", "a/../../b")])
def test_a_project_file_cannot_point_outside_the_project(tmp_path: Path, key: str, place: str) -> None:
    section, _, name = key.partition(".")
    with_file(tmp_path, f"[{section}]\n{name} = '{place}'\n")
    with pytest.raises(SettingsError) as caught:
        load_settings(str(tmp_path))
    assert "inside the project" in caught.value.hint
    # The same value is fine when the user says it.
    assert value_of(load_settings("/nowhere", overrides={key: place}), key) == place


def test_a_project_file_can_point_inside_the_project(tmp_path: Path) -> None:
    with_file(tmp_path, "[source]\ndir = 'src/../lib'\n[index]\ndir = '.cache/index'\n")
    assert load_settings(str(tmp_path)).index.dir == ".cache/index"


@given(st.integers(0, 1000), st.integers(0, 1000))
def test_shares_of_the_window_add_up_to_at_most_one(full: int, segment: int) -> None:
    shares = {"context.full_text_ratio": full / 1000, "context.segment_ratio": segment / 1000}
    if full + segment <= 1000:
        assert load_settings("/nowhere", overrides=shares).context.full_text_ratio == full / 1000
    else:
        with pytest.raises(SettingsError, match="above 1"):
            load_settings("/nowhere", overrides=shares)


@given(st.integers(0, 20_000), st.integers(1, 9_000))
def test_a_model_without_room_for_sources_is_refused_with_the_number_that_is_needed(window: int, reply: int) -> None:
    values = {"llm.window": window, "answer.max_tokens": reply}
    if window and window - reply < LEAST_CONTEXT:
        with pytest.raises(SettingsError, match=f"llm.window {window} leaves") as refused:
            check_room(load_settings("/nowhere", overrides=values))
        assert f"at least {reply + LEAST_CONTEXT}," in str(refused.value.hint)
        check_room(load_settings("/nowhere", overrides={**values, "llm.window": reply + LEAST_CONTEXT}))
    else:
        check_room(load_settings("/nowhere", overrides=values))


@pytest.mark.parametrize("window", [1, 2, LEAST_CONTEXT - 1])
def test_a_context_without_room_for_a_line_is_refused(window: int) -> None:
    with pytest.raises(SettingsError, match=r"context\.window cannot be"):
        load_settings("/nowhere", overrides={"context.window": window})


@pytest.mark.parametrize("mark", [".git", ".fathom", "fathom.toml"])
def test_the_root_is_the_nearest_folder_with_a_mark(tmp_path: Path, mark: str) -> None:
    inner = tmp_path / "outer" / "project" / "a" / "b"
    inner.mkdir(parents=True)
    project = tmp_path / "outer" / "project"
    (tmp_path / ".git").mkdir()
    (project / mark).mkdir()
    assert find_root(str(inner)) == str(project.resolve())


def test_without_a_mark_the_folder_itself_is_the_root(tmp_path: Path) -> None:
    assert find_root(str(tmp_path)) == str(tmp_path.resolve())


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"FATHOM_CONFIG": "/x/y.toml", "XDG_CONFIG_HOME": "/xdg"}, "/x/y.toml"),
        ({"XDG_CONFIG_HOME": "/xdg"}, "/xdg/codefathom/fathom.toml"),
        ({}, str(Path.home() / ".config/codefathom/fathom.toml")),
    ],
)
def test_the_users_file(environment: dict[str, str], expected: str) -> None:
    assert user_file(environment) == expected


@pytest.mark.parametrize("key", ["llm.model", "llm.judge", "llm.index", "embed.model"])
def test_a_project_file_cannot_name_an_address(tmp_path: Path, key: str) -> None:
    section, _, name = key.partition(".")
    with_file(tmp_path, f'[{section}]\n{name} = "openai:m@https://example.org/v1"\n')
    with pytest.raises(SettingsError, match=rf"{key} cannot be") as caught:
        load_settings(str(tmp_path))
    assert "your own settings file" in caught.value.hint


@pytest.mark.parametrize(
    ("name", "model", "address", "shown"),
    [
        ("", "", "", ""),
        ("bundled", "bundled", "", "bundled"),
        ("openai:m", "openai:m", "", "openai:m"),
        ("openai:m@1", "openai:m@1", "", "openai:m@1"),
        ("openai:m@http://box", "openai:m", "http://box", "openai:m@http://box"),
        ("openai:m@https://box/v1/", "openai:m", "https://box/v1/", "openai:m@https://box/v1"),
        ("openai:m@http://me:a@b@box/v1", "openai:m", "http://me:a@b@box/v1", "openai:m@http://box/v1"),
        ("a:b@http://c/@https://d", "a:b", "http://c/@https://d", "a:b@http://c/@https://d"),
    ],
)
def test_a_model_and_its_address(name: str, model: str, address: str, shown: str) -> None:
    assert model_and_address(name) == (model, address)
    assert shown_model(name) == shown


def test_a_value_is_shown_without_a_login() -> None:
    model, address = "openai:m@http://me:word@box", "http://me:word@box"
    settings = Settings(
        embed=EmbedSettings(model, address),
        llm=LlmSettings(model, address, judge=model, prices=("openai:n=1/2", f"{model}/v1=1/2")),
        index=IndexSettings(dir="a//b@c"),
    )
    shown = {known.key: known.shown(value_of(settings, known.key)) for known in declared_settings()}
    assert [shown[key] for key in ("embed.model", "llm.model", "llm.judge")] == ["openai:m@http://box"] * 3
    assert (shown["embed.base_url"], shown["llm.base_url"]) == ("http://box", "http://box")
    assert shown["llm.prices"] == ("openai:n=1/2", "openai:m@http://box/v1=1/2")
    changed = {key for key, value in shown.items() if value != value_of(settings, key)}
    assert changed == {"embed.model", "embed.base_url", "llm.model", "llm.base_url", "llm.judge", "llm.prices"}


PRICED = LlmSettings(
    prompt_price=1.0,
    completion_price=10.0,
    prices=(
        *("openai:m=0.25/2", "ollama:free=0/0", "openai:here@http://localhost:8000/v1/=0.5/1"),
        *("openai:both=3/4", "openai:both@https://box/v1=5/6", "openai:a=b@http://me:word@box/?k=v=7/8"),
    ),
)


@pytest.mark.parametrize(
    ("name", "prices"),
    [
        ("openai:other", (1.0, 10.0)),
        ("openai:m", (0.25, 2.0)),
        ("openai:m@http://anywhere", (0.25, 2.0)),
        ("ollama:free", (0.0, 0.0)),
        ("openai:here", (1.0, 10.0)),
        ("openai:here@http://localhost:8000/v1", (0.5, 1.0)),
        ("openai:here@http://me:word@localhost:8000/v1", (0.5, 1.0)),
        ("openai:both", (3.0, 4.0)),
        ("openai:both@https://box/v1", (5.0, 6.0)),
        ("openai:both@https://elsewhere/v1", (3.0, 4.0)),
        ("openai:a=b@http://box/?k=v", (7.0, 8.0)),
    ],
)
def test_prices_of_a_model(name: str, prices: tuple[float, float]) -> None:
    assert PRICED.prices_of(name) == (*prices, name == "ollama:free")


def test_prices_that_are_not_known_are_not_free() -> None:
    assert LlmSettings().prices_of("openai:m") == (0.0, 0.0, False)
    assert LlmSettings(prices=("openai:m=0/0.0",)).prices_of("openai:m").is_free


def test_a_project_file_cannot_say_where_text_is_sent(tmp_path: Path) -> None:
    (tmp_path / "fathom.toml").write_text('[llm]\nbase_url = "https://example.org/v1"\n', encoding="utf-8")
    with pytest.raises(SettingsError, match=r"llm\.base_url cannot be 'https://example\.org/v1'") as caught:
        load_settings(str(tmp_path))
    assert "your own settings file" in caught.value.hint
    own = tmp_path / "own.toml"
    own.write_text('[llm]\nbase_url = "https://example.org/v1"\n', encoding="utf-8")
    (tmp_path / "fathom.toml").unlink()
    assert load_settings(str(tmp_path), user_file=str(own)).llm.base_url == "https://example.org/v1"


def test_a_project_file_cannot_let_a_model_parse(tmp_path: Path) -> None:
    (tmp_path / "fathom.toml").write_text('[parse]\nchain = ["llm", "text"]\n', encoding="utf-8")
    settings = load_settings(str(tmp_path))
    assert settings.parse.chain == ("treesitter", "text")
    assert "may not choose 'llm'" in settings.refused["parse.chain"]
    (tmp_path / "fathom.toml").write_text('[parse]\nchain = ["text"]\n', encoding="utf-8")
    assert load_settings(str(tmp_path)).parse.chain == ("text",)


VECTOR_INDEX = """
[vector_index]
enabled = true

[vector_index.qdrant]
url = "http://qdrant.example:6333"
collection_name = "orbitx-code-vectors"
timeout_seconds = 12

[vector_index.vectors]
size = 1536
distance = "Cosine"

[vector_index.processing]
batch_size = 50
max_concurrent_files = 4
chunk_size_range = [10, 2000]

[vector_index.files]
supported_extensions = [".ts", ".rs"]
ignore_patterns = ["**/dist/**"]

[vector_index.search]
default_max_results = 7
default_min_score = 0.3
enable_result_cache = true
cache_ttl_seconds = 60
"""


def test_the_tables_of_a_vector_index_are_read(tmp_path: Path) -> None:
    (tmp_path / "user.toml").write_text(VECTOR_INDEX)
    settings = load_settings(str(tmp_path), user_file=str(tmp_path / "user.toml"))
    store = settings.store
    assert (store.vectors, store.url, store.collection, store.timeout_s) == (
        "qdrant",
        "http://qdrant.example:6333",
        "orbitx-code-vectors",
        12.0,
    )
    assert (settings.embed.batch, settings.index.workers, settings.chunk.target_chars) == (50, 4, 2000)
    assert (settings.source.required_exts, settings.source.ignore) == ((".ts", ".rs"), ("**/dist/**",))
    assert (settings.search.limit, settings.search.min_similarity, settings.server.cache_ttl_s) == (7, 0.3, 60.0)
    assert settings.origins["store.url"] == f"{tmp_path}/user.toml: vector_index.qdrant.url"


def test_the_tables_in_the_file_of_a_project_choose_no_place(tmp_path: Path) -> None:
    (tmp_path / "fathom.toml").write_text(VECTOR_INDEX.replace("qdrant.example", "thief.example"))
    with pytest.raises(SettingsError, match=r"vector_index\.qdrant\.url: store\.url cannot be") as error:
        load_settings(str(tmp_path))
    assert "must not choose where text is sent" in error.value.hint
    (tmp_path / "fathom.toml").write_text(VECTOR_INDEX.replace('url = "http', "# ").replace("cache_ttl_seconds", "# "))
    settings = load_settings(str(tmp_path))
    assert (settings.store.vectors, settings.store.url) == ("flat", "")
    assert settings.search.limit == 7
    assert {"store.vectors", "store.collection"} <= set(settings.refused)


def test_a_vector_index_that_is_off_leaves_the_default_store(tmp_path: Path) -> None:
    text = VECTOR_INDEX.replace("enabled = true", "enabled = false").replace(
        "result_cache = true", "result_cache = false"
    )
    (tmp_path / "user.toml").write_text(text)
    settings = load_settings(str(tmp_path), user_file=str(tmp_path / "user.toml"))
    assert (settings.store.vectors, settings.store.url, settings.search.limit) == ("flat", "", 7)
    assert settings.server.cache_ttl_s == 0


@pytest.mark.parametrize(
    ("line", "said", "remedy"),
    [
        ('[vector_index.qdrant]\napi_key = "secret-key"', "qdrant.api_key is a key", "QDRANT_API_KEY"),
        ('[vector_index.vectors]\ndistance = "Dot"', "vectors.distance cannot be 'Dot'", "Cosine"),
        ("[vector_index.search]\nmax_results = 3", "search.max_results is not a setting", "default_max_results"),
        ("[vector_index.search]\ndefault_max_results = 0", "vector_index.search.default_max_results: ", "from 1"),
        ("vector_index = 3", "vector_index is not a setting", "docs/stores.md"),
        ("[vector_index]\nenabled = 3", "store.vectors cannot be 3", "give text"),
    ],
)
def test_wrong_tables_of_a_vector_index_are_clear_errors(tmp_path: Path, line: str, said: str, remedy: str) -> None:
    (tmp_path / "user.toml").write_text(line)
    with pytest.raises(SettingsError) as error:
        load_settings(str(tmp_path), user_file=str(tmp_path / "user.toml"))
    assert said in str(error.value)
    assert remedy in error.value.hint
    assert "secret-key" not in str(error.value)


def test_an_option_of_the_command_line_is_named_as_such(tmp_path: Path) -> None:
    with pytest.raises(SettingsError) as caught:
        load_settings(str(tmp_path), overrides={"search.limit": "0"}, said_as={"search.limit": "--limit"})
    assert str(caught.value) == "--limit cannot be '0'"
    with pytest.raises(SettingsError, match=r"argument: search\.limit cannot be '0'"):
        load_settings(str(tmp_path), overrides={"search.limit": "0"})
