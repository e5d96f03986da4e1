"""What the settings file of a project may say: it comes with the repository, and may tighten settings only."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codefathom.cli import main
from codefathom.config import project_file
from codefathom.config.configuration import load_settings
from codefathom.config.project_file import PERMISSIONS, permission_of
from codefathom.config.settings import DeclaredSetting, Settings, declared_settings
from codefathom.errors import FathomError, SettingsError
from codefathom.project.location import locate

LISTS = {"llm.prices": ("openai:m=0/0",), "team.keys": (f"ssh-ed25519 {'A' * 68}",)}
KNOWN = {known.key: known for known in declared_settings()}
NUMBERS = [known for known in KNOWN.values() if permission_of(known).direction in ("lower", "higher")]
POSIX = pytest.mark.skipif(sys.platform == "win32", reason="links and pipes of POSIX")


def value_of(settings: Settings, key: str) -> object:
    section, _, name = key.partition(".")
    return getattr(getattr(settings, section), name)


def written(value: object) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, tuple):
        return f"[{', '.join(map(written, value))}]"
    return f"'{value}'" if isinstance(value, str) else str(value)


def toml(values: dict[str, object]) -> str:
    return "".join(
        f"[{key.partition('.')[0]}]\n{key.partition('.')[2]} = {written(value)}\n" for key, value in values.items()
    )


def loaded(folder: Path, project: dict[str, object], user: dict[str, object] | None = None) -> Settings:
    (folder / "fathom.toml").write_text(toml(project))
    (folder / "user.toml").write_text(toml(user or {}))
    return load_settings(str(folder), user_file=str(folder / "user.toml"))


@pytest.mark.parametrize("known", KNOWN.values(), ids=lambda known: known.key)
def test_every_setting_is_decided(known: DeclaredSetting) -> None:
    # Of a new setting, decide in `project_file.PERMISSIONS` what a project's file may do with it, or by its rule.
    decided = [known.key in PERMISSIONS, known.rule.remote, known.rule.local and known.key not in PERMISSIONS]
    assert sum(decided) == 1
    permission = permission_of(known)
    if permission.direction in ("lower", "higher"):
        assert isinstance(known.default, int | float)
    assert not permission.zero or known.rule.low == 0
    assert set(permission.never) <= set(known.rule.choices)


def test_no_permission_is_for_a_setting_that_is_gone() -> None:
    assert PERMISSIONS.keys() <= KNOWN.keys()


def other_value(known: DeclaredSetting) -> object:
    if known.rule.choices:
        others = [choice for choice in known.rule.choices if choice not in (known.default, *permission_of(known).never)]
        choice = others[0] if others else known.default
        return (choice,) if isinstance(known.default, tuple) else choice
    if known.key.endswith("_ratio"):
        return 0.0  # more would be too much beside the other one
    if isinstance(known.default, bool):
        return not known.default
    if isinstance(known.default, tuple):
        return LISTS.get(known.key, (".x",))
    if isinstance(known.default, str):
        return "elsewhere"
    high = known.rule.high if known.rule.high is not None else known.default + 1
    return type(known.default)(high if known.default != high else known.rule.low)


@pytest.mark.parametrize("known", KNOWN.values(), ids=lambda known: known.key)
def test_a_project_file_does_what_it_may_and_no_more(tmp_path: Path, known: DeclaredSetting) -> None:
    value, permission = other_value(known), permission_of(known)
    if known.rule.remote:
        if known.rule.form or isinstance(value, int | float):
            value = known.default
        with pytest.raises(SettingsError) if value != known.default else pytest.MonkeyPatch.context():
            assert value_of(loaded(tmp_path, {known.key: value}), known.key) == known.default
        return
    if value == known.default:  # there is no other that a project's file may give
        assert len(set(known.rule.choices) - set(permission.never)) == 1
    settings = loaded(tmp_path, {known.key: value})
    is_applied = permission.direction in ("free", "inside") or (
        permission.direction in ("lower", "higher") and not project_file.refusal(known, value, known.default)
    )
    assert value_of(settings, known.key) == (value if is_applied else known.default)
    assert (known.key in settings.refused) is (not is_applied and value != known.default)
    # What the user says himself always counts.
    assert value_of(load_settings("/nowhere", overrides={known.key: value}), known.key) == value


@pytest.mark.parametrize("known", NUMBERS, ids=lambda known: known.key)
@given(data=st.data())
def test_a_number_moves_in_one_direction_only(
    known: DeclaredSetting, tmp_path_factory: pytest.TempPathFactory, data
) -> None:
    low, high = known.rule.low or 0, known.rule.high if known.rule.high is not None else (known.rule.low or 0) + 10**6
    numbers = {
        bool: st.booleans(),
        int: st.integers(int(low), int(high)),
        float: st.floats(float(low), float(high), allow_nan=False),
    }[type(known.default)]
    mine, theirs = data.draw(numbers), data.draw(numbers)
    folder = tmp_path_factory.mktemp("numbers")
    settings = loaded(folder, {known.key: theirs}, {known.key: mine})
    infinite = permission_of(known).zero

    def weigh(value):
        means = {0: float("inf")} if infinite else {-1: 1} if known.key == "select.filter_level" else {}
        return means.get(value, value)

    stricter = min if permission_of(known).direction == "lower" else max
    assert weigh(value_of(settings, known.key)) == stricter(weigh(mine), weigh(theirs))


@pytest.mark.parametrize(
    ("key", "theirs", "mine", "counts"),
    [
        ("agent.max_cost", 100.0, 5.0, 5.0),
        ("agent.max_cost", 0.0, 5.0, 5.0),  # 0 is no limit
        ("agent.max_cost", 2.0, 5.0, 2.0),
        ("agent.max_cost", 2.0, 0.0, 2.0),
        ("agent.rounds", 50, 3, 3),
        ("agent.rounds", 2, 3, 2),
        ("limits.min_interval_ms", 0, 250, 250),
        ("limits.min_interval_ms", 900, 250, 900),
        ("limits.requests_per_minute", 0, 10, 10),
        ("limits.tokens_per_minute", 500, 10, 10),
        ("limits.attempts", 90, 5, 5),
        ("context.window", 10**6, 1_000, 1_000),
        ("answer.max_tokens", 10**6, 100, 100),
        ("select.filter_level", 2, -1, -1),
        ("select.filter_level", 0, 2, 0),
        ("index.workers", 64, 2, 2),
        ("index.workers", 0, 2, 2),
        ("search.refresh", "never", "auto", "auto"),
        ("search.refresh_max_files", 0, 500, 500),
        ("llm.prices", ("openai:m=0/0",), ("openai:m=1/2",), ("openai:m=1/2",)),
    ],
)
def test_the_stricter_of_two_values_counts(
    tmp_path: Path, key: str, theirs: object, mine: object, counts: object
) -> None:
    settings = loaded(tmp_path, {key: theirs}, {key: mine})
    assert value_of(settings, key) == counts
    assert (key in settings.refused) is (counts != theirs)
    assert value_of(load_settings(str(tmp_path), overrides={key: theirs}), key) == theirs


def test_a_file_that_the_user_names_as_his_own_is_his(tmp_path: Path) -> None:
    (tmp_path / "fathom.toml").write_text("[agent]\nrounds = 50\n[llm]\nmodel = 'ollama:m'\n")
    settings = load_settings(str(tmp_path), user_file=str(tmp_path / "fathom.toml"))
    assert (settings.agent.rounds, settings.llm.model) == (50, "ollama:m")


# ---- how it is read


@POSIX
@pytest.mark.parametrize("kind", ["link", "broken link", "pipe", "folder", "huge", "device", "many parts"])
def test_only_a_plain_file_is_read(tmp_path: Path, kind: str) -> None:
    project, target = tmp_path / "project", tmp_path / "target.toml"
    project.mkdir()
    path = project / "fathom.toml"
    target.write_text("[search]\nlimit = 3\n[embed]\nmodel = 'secret-of-another-file'\n")
    if kind in ("link", "broken link"):
        path.symlink_to(target if kind == "link" else tmp_path / "nowhere")
    elif kind == "pipe":
        os.mkfifo(path)
    elif kind == "folder":
        path.mkdir()
    elif kind == "huge":
        path.write_text("[search]\nlimit = 3\n" + "#" * 3_000_000)
    elif kind == "many parts":
        path.write_text("[search]\nlimit = 3\n" + "x." * 20_000 + "x = 1\n")
    else:
        try:
            os.mknod(path, 0o600 | 0o020000, os.makedev(1, 5))  # /dev/zero
        except OSError:
            pytest.skip("only root can make a device")
    settings = load_settings(str(project))
    assert settings.search.limit == 10
    assert settings.refused["fathom.toml"].startswith("fathom.toml is not read: ")
    assert "secret" not in settings.refused["fathom.toml"]


@POSIX
def test_the_users_own_file_may_be_a_link(tmp_path: Path) -> None:
    (tmp_path / "dotfiles.toml").write_text("[search]\nlimit = 3\n")
    (tmp_path / "own.toml").symlink_to(tmp_path / "dotfiles.toml")
    assert load_settings("/nowhere", user_file=str(tmp_path / "own.toml")).search.limit == 3


@pytest.mark.parametrize("text", ["[answer]\nfilter_hint = '{}'", "[source]\nignore = [{}]"])
def test_a_text_that_goes_to_a_model_is_not_endless(tmp_path: Path, text: str) -> None:
    (tmp_path / "fathom.toml").write_text(text.replace("{}", "'x', " * 3_000 if "[{}]" in text else "x" * 3_000))
    with pytest.raises(SettingsError, match="too long"):
        load_settings(str(tmp_path))


# ---- where the index lies


@pytest.mark.parametrize("place", [".", "src", ".git", ".git/objects", "src/..", ".GIT", "sub/.git/x", "lib", ".hg/x"])
def test_an_index_does_not_lie_among_other_files(tmp_path: Path, place: str) -> None:
    for name in ("src/app.py", ".git/HEAD", "lib/.hidden"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("x = 1\n")
    (tmp_path / "fathom.toml").write_text(f"[index]\ndir = '{place}'\n")
    with pytest.raises(FathomError, match="cannot be in"):
        locate(str(tmp_path), load_settings(str(tmp_path)))
    with pytest.raises(FathomError, match="cannot be in"):  # nor when the user says so
        locate(str(tmp_path), load_settings("/nowhere", overrides={"index.dir": str(tmp_path / place)}))
    assert not (tmp_path / "src" / ".gitignore").exists()


def test_an_index_lies_in_a_folder_of_its_own(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "project").mkdir()
    (tmp_path / "project" / "app.py").write_text("def retry(): ...\n")
    (tmp_path / "project" / "fathom.toml").write_text("[index]\ndir = 'build/index'\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
        patch.setenv("FATHOM_CONFIG", os.devnull)
        patch.chdir(tmp_path / "project")
        for _ in range(2):  # what lies there after the first run is ours
            assert main(["index", "--full"]) == 0
            assert main(["search", "retry"]) == 0
    assert (tmp_path / "project" / "build" / "index" / "catalog.db").exists()


# ---- what is said of it


def test_what_does_not_count_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (tmp_path / "app.py").write_text("def retry(): ...\n")
    (tmp_path / "fathom.toml").write_text("[agent]\nrounds = 50\n[llm]\nprompt_price = 0.1\n")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("FATHOM_CACHE_DIR", str(tmp_path / "cache"))
        patch.setenv("FATHOM_CONFIG", os.devnull)
        patch.chdir(tmp_path)
        assert main(["config", "show"]) == 0
        told = capsys.readouterr()
        assert main(["search", "-q", "retry"]) == 0
    rounds = "fathom.toml sets agent.rounds, which is ignored: the file of a project may only lower it"
    price = "fathom.toml sets llm.prompt_price, which is ignored: the file of a project may not set it"
    assert f"fathom: {rounds}\n" in told.err
    assert f"fathom: {price}\n" in told.err
    assert f"agent.rounds = 6  # default; {rounds}\n" in told.out
    assert "does not count" not in capsys.readouterr().err


# ---- secrets in the wrong place

SECRETS = (
    "sk-proj-" + "Zq7Bx2Lm9Rt4Vw8Kd3",
    "fathom_" + "aB3dE5fG7hJ9kL1mN3pQ",
    "hunter2-but-longer-9",
    "AKIA" + "Q3EXAMPLE7HBNDCA",
)


@pytest.mark.parametrize("secret", SECRETS)
@pytest.mark.parametrize("known", list(KNOWN.values()), ids=lambda known: known.key)
def test_no_error_repeats_what_may_be_a_secret(tmp_path: Path, known: DeclaredSetting, secret: str) -> None:
    values: list[object] = [secret, f"openai:m@https://me:{secret}@host/v1", f"https://{secret}@host", f"https://host/v1?key={secret}",
                            [secret], {secret: secret}, {"key": secret}]  # fmt: skip
    for value in values:
        (tmp_path / "fathom.toml").write_text(toml({known.key: value}) if isinstance(value, str) else "")
        for place in (
            {"root": str(tmp_path)},
            {"root": "/nowhere", "overrides": {known.key: value}},
            {"root": "/nowhere", "environ": {f"FATHOM_{known.key.upper().replace('.', '__')}": str(value)}},
        ):
            try:
                load_settings(**place)
            except SettingsError as error:
                assert secret not in f"{error} {error.hint}"


@pytest.mark.parametrize("text", ['[llm]\napi_key = "{}"', 'api_key = "{}"',
                                  '[openai]\nkey = "{}"', '[llm]\nmodel = ["{}"]',
                                  '[llm.keys]\nopenai = "{}"', 'search = "{}"', '[llm]\nmodel = "{}'])  # fmt: skip
def test_no_error_of_a_file_repeats_a_key_in_it(tmp_path: Path, text: str) -> None:
    (tmp_path / "own.toml").write_text(text.replace("{}", SECRETS[0]))
    with pytest.raises(SettingsError) as caught:
        load_settings("/nowhere", user_file=str(tmp_path / "own.toml"))
    assert SECRETS[0] not in f"{caught.value} {caught.value.hint}"
