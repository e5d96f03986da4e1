"""Entries in files of hosts: the text around them stays to the byte, and what cannot be read is refused."""

from __future__ import annotations

import json
import tomllib

import pytest
from hypothesis import given
from hypothesis import strategies as st

from codefathom.hosts import json_edits, toml_edits
from codefathom.hosts.json_edits import FormError, read_json

KEY, NAME = "mcpServers", "fathom"
ENTRY = {"command": "/opt/fathom", "args": ["mcp"]}
LINE = '"fathom": {"command": "/opt/fathom", "args": ["mcp"]}'

# What stands in a file → what stands there afterwards.
JSON_CASES = {
    "{}": '{"mcpServers": {\n  "fathom": {\n    "command": "/opt/fathom",\n    "args": ["mcp"]\n  }\n}}',
    '{"mcpServers": {}}': '{"mcpServers": {' + LINE + "}}",
    '{"mcpServers": {"a": {}}}\n': '{"mcpServers": {"a": {}, ' + LINE + "}}\n",
    '{"mcpServers": {"a": {},}, }': '{"mcpServers": {"a": {}, ' + LINE + ",}, }",
    '{\n\t"mcpServers": {\n\t\t"a": 1 // one\n\t}\n}': (
        '{\n\t"mcpServers": {\n\t\t"a": 1, // one\n\t\t' + LINE + "\n\t}\n}"
    ),
    '{\r\n  "mcpServers": {\r\n    "a": 1, // one\r\n  },\r\n}': (
        '{\r\n  "mcpServers": {\r\n    "a": 1, // one\r\n    ' + LINE + ",\r\n  },\r\n}"
    ),
    '{\n  "mcpServers": { // none yet\n  }\n}\n': '{\n  "mcpServers": { // none yet\n    ' + LINE + "\n  }\n}\n",
    '{\n    "theme": "dark"\n}\n': (
        '{\n    "theme": "dark",\n    "mcpServers": {\n        "fathom": {\n            "command": "/opt/fathom",\n'
        '            "args": ["mcp"]\n        }\n    }\n}\n'
    ),
}


@pytest.mark.parametrize("before", JSON_CASES)
def test_a_json_entry_stands_where_a_person_would_write_it(before: str) -> None:
    after = json_edits.with_entry(before, KEY, NAME, ENTRY)
    assert after == JSON_CASES[before]
    assert json_edits.entry_in(after, KEY, NAME) == ENTRY
    assert json_edits.without_entry(after, KEY, NAME) == before


BLANKS = st.lists(
    st.sampled_from([" ", "\n", "\r\n", "\t", '// a, "b": {\n', "/* } */", "/* x\n*/", "  "]), max_size=3
).map("".join)
WORDS = st.text(st.sampled_from('ab"\\/*{},:é\U0001f600'), max_size=4)


@st.composite
def json_texts(draw: st.DrawFn, depth: int = 2, *, is_root: bool = True) -> str:
    """Objects in any form, with comments and commas before brackets."""
    kinds = ["object"] if is_root else ["object", "array", "scalar"]
    kind = draw(st.sampled_from(kinds)) if depth else "scalar"
    if kind == "scalar":
        return draw(st.sampled_from(["1", "-2.5e3", "true", "null", '"x"', "{}", "[]", '"// no"']))
    inner = json_texts(depth - 1, is_root=False)
    parts = draw(st.lists(st.tuples(BLANKS, WORDS, BLANKS, inner, BLANKS), max_size=3, unique_by=lambda part: part[1]))
    keys = [word for _, word, *_ in parts]
    if is_root and draw(st.booleans()) and keys:
        keys[draw(st.integers(0, len(keys) - 1))] = KEY
        empty = "{" + draw(BLANKS) + "}"
        parts = [(a, w, b, empty if key == KEY else c, d) for (a, w, b, c, d), key in zip(parts, keys, strict=True)]
    heads = [
        f"{json.dumps(key)}{b}:" if kind == "object" else b for (_, _, b, *_), key in zip(parts, keys, strict=True)
    ]
    members = [f"{a}{head}{c}{d}" for (a, _, _, c, d), head in zip(parts, heads, strict=True)]
    text = ",".join(members) + (draw(st.sampled_from(["", ","])) if members else "") + draw(BLANKS)
    text = "{" + text + "}" if kind == "object" else "[" + text + "]"
    return draw(BLANKS) + text + draw(BLANKS) if is_root else text


@given(json_texts())
def test_json_comes_back_to_the_byte(before: str) -> None:
    after = json_edits.with_entry(before, KEY, NAME, ENTRY)
    data = read_json(before).data
    assert read_json(after).data == {**data, KEY: {**data.get(KEY, {}), NAME: ENTRY}}
    assert json_edits.without_entry(after, KEY, NAME) == before
    renewed = json_edits.with_entry(after, KEY, NAME, {**ENTRY, "command": "/new/fathom"})
    assert json_edits.without_entry(renewed, KEY, NAME) == before


@given(json_texts())
def test_json_without_comments_stays_json(before: str) -> None:
    try:
        json.loads(before)
    except ValueError:
        return
    assert json.loads(json_edits.with_entry(before, KEY, NAME, ENTRY))[KEY][NAME] == ENTRY


EMPTY = ["", " ", "\n", "\t\r\n ", "// none yet", "// none yet\n", "/* none\nyet */", "/* a */ // b"]


@pytest.mark.parametrize("before", EMPTY)
def test_an_empty_json_file_comes_back_to_the_byte(before: str) -> None:
    assert json_edits.entry_in(before, KEY, NAME) is None
    assert json_edits.without_entry(before, KEY, NAME) == before
    after = json_edits.with_entry(before, KEY, NAME, ENTRY)
    assert json_edits.entry_in(after, KEY, NAME) == ENTRY
    assert json_edits.without_entry(after, KEY, NAME) == before
    renewed = json_edits.with_entry(after, KEY, NAME, {**ENTRY, "command": "/new/fathom"})
    assert json_edits.entry_in(renewed, KEY, NAME)["command"] == "/new/fathom"
    assert json_edits.without_entry(renewed, KEY, NAME) == before


@pytest.mark.parametrize(
    "before",
    [
        '{"mcpServers": null}',
        '{\n  "mcpServers": null,\n  "other": 1\n}\n',
        '{\n  // none yet\n  "mcpServers": null // none\n}\n',
        '{"mcpServers": {"fathom": null}}',
        '{\n  "mcpServers": {\n    "fathom": null,\n    "other": {}\n  }\n}\n',
    ],
)
def test_what_was_null_comes_back(before: str) -> None:
    assert json_edits.entry_in(before, KEY, NAME) is None
    after = json_edits.with_entry(before, KEY, NAME, ENTRY)
    assert json_edits.entry_in(after, KEY, NAME) == ENTRY
    assert json_edits.without_entry(after, KEY, NAME) == before
    renewed = json_edits.with_entry(after, KEY, NAME, {**ENTRY, "command": "/new/fathom"})
    assert json_edits.without_entry(renewed, KEY, NAME) == before


@pytest.mark.parametrize(
    ("text", "rest"),
    [
        ('{"mcpServers": {\n  "fathom": {}, // mine\n  "z": 1}}', '{"mcpServers": { // mine\n  "z": 1}}'),
        ('{"mcpServers": {"a": 1, // b\n  "fathom": {}}}', '{"mcpServers": {"a": 1 // b\n  }}'),
        ('{"mcpServers": {"fathom": {}, "z": 1}}', '{"mcpServers": { "z": 1}}'),
        ('{"mcpServers": {\n"fathom": {\n}, /* kept */\n}}', '{"mcpServers": { /* kept */\n}}'),
        ('{"a": 1}', '{"a": 1}'),
    ],
)
def test_an_entry_that_was_moved_is_taken_out(text: str, rest: str) -> None:
    assert json_edits.without_entry(text, KEY, NAME) == rest


@pytest.mark.parametrize("edits", [json_edits, toml_edits])
def test_a_file_that_was_made_is_no_more(edits: object) -> None:
    text = edits.created(KEY, NAME, ENTRY)  # type: ignore[attr-defined]
    assert edits.without_entry(text, KEY, NAME) is None  # type: ignore[attr-defined]
    renewed = edits.with_entry(text, KEY, NAME, {**ENTRY, "command": "/new"})  # type: ignore[attr-defined]
    assert "/new" in renewed
    assert edits.without_entry(renewed, KEY, NAME) is None  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("[]", '"{"'),
        ('{"a": 1', "line 1"),
        ('{"a": 1}}', "nothing more"),
        ('{\n"a": 01x}', "line 2"),
        ('{"a" 1}', '":"'),
        ('{"a": "\n"}', "a value"),
        ('{"a": NaN}', "a value"),
        ('{"a": 1 /* open}', "line 1"),
        ('{"mcpServers": []}', "holds no object"),
        ('{"mcpServers": {}, "mcpServers": {}}', "there twice"),
        ('{"mcpServers": {"fathom": {}, "fathom": {}}}', "there twice"),
        ('{"a": ' + "[" * 5_000, "brackets"),
        ('{"a": ' + "9" * 5_000 + "}", "a value"),
        ("{" + " " * 300_000 + "x", "a key"),
        ('{"a": "' + "\\x" * 100_000, "a value"),
    ],
    ids=lambda text: text[:20],
)
def test_json_that_is_not_understood_is_refused(text: str, problem: str) -> None:
    with pytest.raises(FormError, match=problem):
        json_edits.with_entry(text, KEY, NAME, ENTRY)
    with pytest.raises(FormError):
        json_edits.without_entry(text, KEY, NAME)


TOML_PARTS = (
    "",
    " \t\n",
    '[notes]\ntext = """\n[mcp_servers.fathom]\ncommand = "no"\n"""\n',
    "[more]\ntext = '''\n\n[mcp_servers.fathom]\n'''\nlist = [\n  [1],\n  [\"#\"]\n]\n",
    '["mcp_servers".third]\ncommand = "x"\nargs = [\n  "[mcp_servers.fathom]"\n]\n',
    "# settings\n",
    'model = "o" # best\n',
    '\n[mcp_servers.other]\ncommand = "x"\n# its end\n',
    '[profiles."a.b"]\nx = 1\n\n\n',
    '[a]\ntext = """\n[mcp_servers.no]\n"""\n',
    "[[b]]\n[[b]]\n",
    "[mcp_servers]\n",
    "text = '''\n" + "[" * 5_000 + "\n'''\n",
    "when = 1979-05-27",
)


@given(st.lists(st.sampled_from(TOML_PARTS), unique=True), st.booleans(), st.booleans())
def test_toml_comes_back_to_the_byte(parts: list[str], is_ended: bool, has_carriage_returns: bool) -> None:
    text = "".join(parts)
    try:
        tomllib.loads(text)
    except ValueError:
        return
    text = text if is_ended else text.rstrip("\n")
    text = text.replace("\n", "\r\n") if has_carriage_returns else text
    after = toml_edits.with_entry(text, "mcp_servers", NAME, ENTRY)
    assert tomllib.loads(after)["mcp_servers"][NAME] == ENTRY
    assert toml_edits.without_entry(after, "mcp_servers", NAME) == text
    renewed = toml_edits.with_entry(after, "mcp_servers", NAME, {**ENTRY, "command": "/new/fathom"})
    assert toml_edits.without_entry(renewed, "mcp_servers", NAME) == text


def test_tables_that_a_host_has_added_inside_go_with_it() -> None:
    text = toml_edits.with_entry("[x]\na = 1\n", "mcp_servers", NAME, ENTRY)
    text += '\n[ mcp_servers . "fathom" . tools.search]\napproval_mode = "approve"\n\n# kept\n[y]\n'
    assert toml_edits.without_entry(text, "mcp_servers", NAME) == "[x]\na = 1\n\n# kept\n[y]\n"


@pytest.mark.parametrize(
    "text",
    [
        "x =",
        "mcp_servers = 1",
        "mcp_servers = {a = {}}",
        'a = """\n[mcp_servers.fathom]\n"""\n[mcp_servers]\nfathom.command = "x"\n',
        "x = " + "[" * 20_000,
        "x = " + "9" * 5_000,
    ],
    ids=lambda text: text[:20],
)
def test_toml_that_is_not_understood_is_refused(text: str) -> None:
    with pytest.raises(FormError):
        toml_edits.with_entry(text, "mcp_servers", NAME, ENTRY)


HOOKS, EVENT = "hooks", "PostToolUse"
ITEM = {"matcher": "Grep", "hooks": [{"type": "command", "command": "/opt/fathom hook"}]}
NEWER = {"matcher": "Grep", "hooks": [{"type": "command", "command": "/new/fathom hook"}]}
WHOLE = json.dumps(ITEM)

# What stands in a file → what stands there afterwards.
ITEM_CASES = {
    "{}": f'{{"hooks": {{\n  "PostToolUse": [\n    {WHOLE}\n  ]\n}}}}',
    '{"hooks": {}}': f'{{"hooks": {{"PostToolUse": [ {WHOLE} ]}}}}',
    '{"hooks": {"PostToolUse": []}}': f'{{"hooks": {{"PostToolUse": [{WHOLE}]}}}}',
    '{"hooks": {"PostToolUse": [\n]}}': f'{{"hooks": {{"PostToolUse": [{WHOLE}\n]}}}}',
    '{"hooks": {"PostToolUse": null}}': f'{{"hooks": {{"PostToolUse": [  {WHOLE}  ]}}}}',
    '{"hooks": null}': f'{{"hooks": {{  "PostToolUse": [ {WHOLE} ]  }}}}',
    '{"hooks": {"PostToolUse": [{"a": 1}]}}': f'{{"hooks": {{"PostToolUse": [{{"a": 1}}, {WHOLE}]}}}}',
    '{\n  "hooks": {\n    "PostToolUse": [\n      {"a": 1}, // one\n    ]\n  }\n}\n': (
        f'{{\n  "hooks": {{\n    "PostToolUse": [\n      {{"a": 1}}, // one\n      {WHOLE},\n    ]\n  }}\n}}\n'
    ),
    '{\n  "model": "x",\n  "hooks": {\n    "Stop": []\n  }\n}\n': (
        f'{{\n  "model": "x",\n  "hooks": {{\n    "Stop": [],\n    "PostToolUse": [ {WHOLE} ]\n  }}\n}}\n'
    ),
}


def check_item(before: str, after: str) -> None:
    """Check that an item that was added can be renewed, and taken out to the byte."""
    at = json_edits.items_in(after, HOOKS, EVENT).index(ITEM)
    assert json_edits.without_item(after, HOOKS, EVENT, at) == (before or None)
    renewed = json_edits.with_item(after, HOOKS, EVENT, NEWER, at)
    assert json_edits.items_in(renewed, HOOKS, EVENT)[at] == NEWER
    assert json_edits.without_item(renewed, HOOKS, EVENT, at) == (before or None)


@pytest.mark.parametrize("before", ITEM_CASES)
def test_an_item_stands_where_a_person_would_write_it(before: str) -> None:
    after = json_edits.with_item(before, HOOKS, EVENT, ITEM, None)
    assert after == ITEM_CASES[before]
    check_item(before, after)


@given(json_texts(), st.sampled_from(["", "[]", "[\n]", '[1, {"a": 2},]', "null", "[  3 /* x */ ]"]), st.booleans())
def test_an_item_comes_back_to_the_byte(text: str, items: str, is_last: bool) -> None:
    member = f'"hooks": {{"Stop": [1]{f", {json.dumps(EVENT)}: {items}" if items else ""}}}'
    empty = not read_json(text).members
    place = read_json(text).end - 1 if is_last and empty else read_json(text).start + 1
    before = f"{text[:place]}{member}{'' if empty else ', '}{text[place:]}" if items else text
    if HOOKS in read_json(text).data:
        return
    data = read_json(before).data
    after = json_edits.with_item(before, HOOKS, EVENT, ITEM, None)
    held = data.get(HOOKS, {})
    assert read_json(after).data == {**data, HOOKS: {**held, EVENT: [*(held.get(EVENT) or []), ITEM]}}
    check_item(before, after)


@pytest.mark.parametrize("before", EMPTY)
def test_an_item_in_an_empty_file_comes_back(before: str) -> None:
    after = json_edits.with_item(before, HOOKS, EVENT, ITEM, None)
    assert json_edits.items_in(after, HOOKS, EVENT) == [ITEM]
    if before:
        check_item(before, after)
    assert json_edits.without_item(json_edits.created(HOOKS, EVENT, [ITEM]), HOOKS, EVENT, 0) is None


def test_a_list_that_is_none_is_refused() -> None:
    with pytest.raises(FormError, match="holds no list"):
        json_edits.with_item('{"hooks": {"PostToolUse": {}}}', HOOKS, EVENT, ITEM, None)
    others = f'{{"hooks": {{"PostToolUse": [{WHOLE}, {{"b": 2}}]}}}}'
    assert json_edits.without_item(others, HOOKS, EVENT, 0) == '{"hooks": {"PostToolUse": [ {"b": 2}]}}'
