"""`fathom lsp` as an editor sees it: a client over stdio that says every byte itself."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.fathom import Fathom
from tests.waiting import LONG_S

from codefathom import Engine
from codefathom.stores.lock import writer_lock

Json = Any


class Editor:
    """A strict client: it sends what a test says, and takes each message as the protocol frames it."""

    def __init__(self, *words: str, folder: Path | None = None) -> None:
        self.process = Fathom(
            ["lsp", *words], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=folder
        )
        self.told: list[Json] = []  # notifications
        self._n = 0

    def send(self, body: bytes) -> None:
        assert self.process.stdin
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(body), body))
        self.process.stdin.flush()

    def tell(self, method: str, params: Json) -> None:
        self.send(json.dumps({"jsonrpc": "2.0", "method": method, "params": params}).encode())

    def request(self, method: str, params: Json) -> int:
        self._n += 1
        self.send(json.dumps({"jsonrpc": "2.0", "id": self._n, "method": method, "params": params}).encode())
        return self._n

    def message(self) -> Json:
        assert self.process.stdout
        length = 0
        while (line := self.process.stdout.readline()).strip():
            match = re.fullmatch(rb"Content-Length: (\d+)\r\n", line)
            length = int(match[1]) if match else length
        assert length, self.process.stderr and self.process.stderr.read()
        return json.loads(self.process.stdout.read(length))

    def response(self, number: int) -> Json:
        while True:
            message = self.message()
            if message.get("id") == number and "method" not in message:
                return message
            self.told.append(message)

    def ask(self, method: str, params: Json) -> Json:
        response = self.response(self.request(method, params))
        assert "error" not in response, response
        return response["result"]

    def begin(self, root: Path, *others: Path, options: Json = None) -> Json:
        folders = [{"uri": folder.as_uri(), "name": folder.name} for folder in (root, *others)]
        result = self.ask(
            "initialize",
            {
                "processId": None,
                "rootUri": root.as_uri(),
                "capabilities": {},
                "workspaceFolders": folders,
                "initializationOptions": options,
            },
        )
        self.tell("initialized", {})
        return result

    def leave(self) -> int:
        self.ask("shutdown", None)
        self.tell("exit", None)
        self.process.communicate(timeout=LONG_S)
        return self.process.returncode

    def open(self, file: Path, text: str | None = None, version: int = 1) -> None:
        text = file.read_text() if text is None else text
        document = {"uri": file.as_uri(), "languageId": "python", "version": version, "text": text}
        self.tell("textDocument/didOpen", {"textDocument": document})

    def change(self, file: Path, text: str, version: int = 2) -> None:
        document = {"uri": file.as_uri(), "version": version}
        self.tell("textDocument/didChange", {"textDocument": document, "contentChanges": [{"text": text}]})

    def at(self, what: str, file: Path, line: int, character: int, **more: Json) -> Json:
        position = {"line": line, "character": character}
        return self.ask(f"textDocument/{what}", {"textDocument": {"uri": file.as_uri()}, "position": position, **more})


@pytest.fixture
def editor(shop: Path) -> Iterator[Editor]:
    client = Editor()
    client.begin(shop)
    with client.process:
        yield client
        if client.process.poll() is None:
            client.process.kill()


def places(locations: Json, root: Path) -> list[str]:
    """Each place as path:line:column, from 1, and the length of the name."""
    return [place(at["uri"].removeprefix(root.as_uri() + "/"), **at["range"]) for at in locations or ()]


def place(path: str, start: Json, end: Json) -> str:
    return f"{path}:{start['line'] + 1}:{start['character'] + 1}+{end['character'] - start['character']}"


def use_of(file: Path, text: str, word: str) -> tuple[int, int]:
    lines = file.read_text().splitlines()
    line = next(n for n, content in enumerate(lines) if text in content)
    return line, lines[line].index(word) + 1


def test_an_editor_gets_what_is_offered_and_leaves(shop: Path) -> None:
    editor = Editor()
    offered = editor.begin(shop)["capabilities"]
    names = ("workspaceSymbol", "documentSymbol", "definition", "hover", "references", "callHierarchy", "codeLens")
    assert [name for name in names if not offered.get(f"{name}Provider")] == []
    assert offered["positionEncoding"] == "utf-16"
    assert editor.leave() == 0


def test_definition_references_and_hover(editor: Editor, shop: Path) -> None:
    orders = shop / "shop" / "orders.py"
    use = use_of(orders, "= total_cents", "total_cents")
    assert places(editor.at("definition", orders, *use), shop) == ["shop/pricing.py:6:5+11"]
    declared = {"context": {"includeDeclaration": True}}
    assert places(editor.at("references", orders, *use, **declared), shop) == [
        "shop/pricing.py:6:5+11",
        "shop/orders.py:22:17+11",
        "shop/orders.py:5:36+11",
    ]
    alone = {"context": {"includeDeclaration": False}}
    assert places(editor.at("references", orders, *use, **alone), shop) == [
        "shop/orders.py:22:17+11",
        "shop/orders.py:5:36+11",
    ]
    hover = editor.at("hover", orders, *use)
    assert hover["contents"]["value"].splitlines() == [
        "def total_cents(items: list[tuple[str, int]]) -> int",
        "",
        "Return the sum of all prices.",
        "",
        "shop/pricing.py:6, known by scopes and imports",
        "uses known to Codefathom: 1",
    ]
    price = use_of(orders, "order.price()", "price")
    assert (
        "known by the name alone, so it may be another one" in editor.at("hover", orders, *price)["contents"]["value"]
    )


USES = """\
from shop.pricing import discount


def often(discounts: dict[str, int]) -> int:
    # discount in a comment is not a use
    first = discount(1) + discount(2)
    other = dict(discount=3, text="discount")
    each = map(discount, other.values())
    return first + sum(each) + other.discount


def shadow() -> None:
    def inner() -> int:
        return discount(4)

    print(discount(5), inner)
"""


def test_references_are_every_use_with_its_line(editor: Editor, shop: Path) -> None:
    often = shop / "shop" / "often.py"
    often.write_text(USES)
    alone = {"context": {"includeDeclaration": False}}
    found = places(editor.at("references", often, *use_of(often, "first =", "discount"), **alone), shop)
    assert [place for place in found if "often.py" in place] == [
        "shop/often.py:6:13+8",
        "shop/often.py:6:27+8",
        "shop/often.py:8:16+8",
        "shop/often.py:1:26+8",
        "shop/often.py:14:16+8",
        "shop/often.py:16:11+8",
    ]


def test_references_name_what_an_import_takes(editor: Editor, shop: Path) -> None:
    (shop / "shop" / "public.py").write_text("from shop.pricing import (\n    discount,\n    total_cents,\n)\n")
    (shop / "web" / "price.ts").write_text("export function shown() {}\nexport default function made() {}\n")
    (shop / "web" / "public.ts").write_text("import {\n  shown\n} from './price'\n\nexport { shown }\n")
    alone = {"context": {"includeDeclaration": False}}
    pricing, price = shop / "shop" / "pricing.py", shop / "web" / "price.ts"
    found = places(editor.at("references", pricing, *use_of(pricing, "def total_cents", "total_cents"), **alone), shop)
    assert [place for place in found if "public" in place] == ["shop/public.py:3:5+11"]
    found = places(editor.at("references", price, 0, 17, **alone), shop)
    assert found == ["web/public.ts:2:3+5", "web/public.ts:5:10+5"]


def test_references_in_the_definition_itself_overloads_and_other_names(editor: Editor, shop: Path) -> None:
    own = shop / "shop" / "own.py"
    own.write_text(
        "from typing import overload\n\n\n@overload\ndef half(n: int) -> int: ...\n\n\n"
        "def half(n: float) -> float:\n    return n if n < 1 else half(n - 1)\n"
    )
    (shop / "shop" / "taken.py").write_text("if True:\n    from shop.own import half as part\n\n\nONE = part(2)\n")
    ways = [{"context": {"includeDeclaration": declared}} for declared in (False, True)]
    uses, all_places = (
        places(editor.at("references", own, *use_of(own, "def half", "half"), **way), shop) for way in ways
    )
    assert set(uses) == {"shop/own.py:9:28+4", "shop/taken.py:2:26+4", "shop/taken.py:5:7+4"}
    assert set(all_places) == {"shop/own.py:5:5+4", "shop/own.py:8:5+4", *uses}


def test_references_have_no_largest_number(editor: Editor, shop: Path) -> None:
    many = shop / "shop" / "many.py"
    calls = "".join(f"\n\ndef caller_{n}() -> int:\n    return discount({n}) + discount(0)\n" for n in range(300))
    many.write_text(f"from shop.pricing import discount\n{calls}")
    alone = {"context": {"includeDeclaration": False}}
    found = places(editor.at("references", many, 0, 26, **alone), shop)
    assert len([place for place in found if "many.py" in place]) == len(set(found)) - 2 == 601


def test_names_in_files_that_are_not_listed_are_told(editor: Editor, shop: Path) -> None:
    (shop / "notes.md").write_text("The function total_cents is slow.\n")
    orders = shop / "shop" / "orders.py"
    editor.at(
        "references", orders, *use_of(orders, "= total_cents", "total_cents"), context={"includeDeclaration": True}
    )
    editor.ask("workspace/symbol", {"query": ""})
    told = [item["params"]["message"] for item in editor.told if item["method"] == "window/logMessage"]
    assert "shop/pricing.py @@total_cents: the name also stands in 1 more file, which is not listed" in told


CALLS = """\
from shop.pricing import discount, total_cents


def test_discount() -> None:
    assert discount(1) == discount(1)
    assert total_cents([])


def test_price(order: object) -> None:
    assert order.price() == discount(3)


def test_other() -> None:
    print(discount(2))
"""


def ranges(calls: Json, end: str) -> dict[str, list[str]]:
    """The other ends of calls by name, with the places of the calls."""
    return {call[end]["name"]: [place("", **at).strip(":") for at in call["fromRanges"]] for call in calls}


def test_a_hierarchy_of_calls(editor: Editor, shop: Path) -> None:
    (shop / "tests").mkdir()
    tests = shop / "tests" / "test_pricing.py"
    tests.write_text(CALLS + "\n\nEARLY = discount(7)\n")
    pricing, orders = shop / "shop" / "pricing.py", shop / "shop" / "orders.py"
    (item,) = editor.at("prepareCallHierarchy", tests, *use_of(tests, "== discount(3)", "discount"))
    assert (item["name"], item["detail"], item["uri"]) == ("discount", "shop/pricing.py", pricing.as_uri())
    assert place("", **item["selectionRange"]) == ":11:5+8"
    incoming = editor.ask("callHierarchy/incomingCalls", {"item": item})
    assert ranges(incoming, "from") == {
        "price": ["23:24+8"],
        "test_discount": ["5:12+8", "5:27+8"],
        "test_price": ["10:29+8"],
        "test_other": ["14:11+8"],
        "tests/test_pricing.py": ["17:9+8"],
    }
    caller = next(call["from"] for call in incoming if call["from"]["name"] == "price")
    assert caller["uri"] == orders.as_uri()
    outgoing = editor.ask("callHierarchy/outgoingCalls", {"item": caller})
    assert ranges(outgoing, "to") == {"total_cents": ["22:17+11"], "discount": ["23:24+8"]}
    assert [call["to"]["uri"] for call in outgoing] == [pricing.as_uri()] * 2
    (above,) = editor.ask("callHierarchy/incomingCalls", {"item": caller})[:1]
    assert above["from"]["name"] == "place"


@pytest.mark.parametrize(
    "data", [None, 7, "", "@@", " @@", "none.py @@none", "@@discount", ["shop/pricing.py @@x"], {}]
)
def test_an_item_that_nobody_sent_has_no_calls(editor: Editor, shop: Path, data: Json) -> None:
    at = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 0}}
    item = {"name": "x", "kind": 12, "uri": shop.as_uri(), "range": at, "selectionRange": at, "data": data}
    assert editor.ask("callHierarchy/incomingCalls", {"item": item}) == []
    assert editor.ask("callHierarchy/outgoingCalls", {"item": item}) == []
    lens = editor.ask("codeLens/resolve", {"range": at, "data": data})
    assert lens["command"]["title"] == "no users known"


def test_lenses_count_callers_and_tests_when_they_are_shown(editor: Editor, shop: Path) -> None:
    (shop / "tests").mkdir()
    (shop / "tests" / "test_pricing.py").write_text(CALLS)
    words = {}
    for name in ("pricing", "orders"):
        document = {"textDocument": {"uri": (shop / "shop" / f"{name}.py").as_uri()}}
        lenses = editor.ask("textDocument/codeLens", document)
        assert all("command" not in lens for lens in lenses)
        for lens in lenses:
            words[place(name, **lens["range"])] = editor.ask("codeLens/resolve", lens)["command"]
    assert {at: command["title"] for at, command in words.items()} == {
        "pricing:6:5+11": "1 caller, 1 test",
        "pricing:11:5+8": "1 caller, 3 tests",
        "orders:10:7+5": "1 user",
        "orders:16:9+3": "no callers known",
        "orders:20:9+5": "1 caller by name, 1 test by name",
        "orders:26:5+5": "no callers known",
    }
    assert {command["command"] for command in words.values()} == {""}


@pytest.mark.parametrize(
    ("options", "has_lenses", "warns"),
    [
        (None, True, False),
        ({"codeLens": False}, False, False),
        ({"codeLens": "[no](command:x)"}, True, True),
        (7, True, False),
    ],
)
def test_lenses_can_be_turned_off(shop: Path, options: Json, has_lenses: bool, warns: bool) -> None:
    editor = Editor()
    assert bool(editor.begin(shop, options=options)["capabilities"].get("codeLensProvider")) is has_lenses
    editor.ask("workspace/symbol", {"query": "discount"})
    messages = [item["params"]["message"] for item in editor.told if item["method"] == "window/showMessage"]
    assert any("codeLens must be true or false" in text for text in messages) is warns
    assert not any("](" in text for text in messages)
    assert editor.leave() == 0


@pytest.mark.parametrize(
    ("query", "first"),
    [
        ("total_cents", "shop/pricing.py:6:5+11"),
        ("Databa", "shop/store/database.py:6:7+8"),
        ("where are discounts computed", "shop/pricing.py:11:5+8"),
    ],
)
def test_symbols_by_name_and_by_meaning(editor: Editor, shop: Path, query: str, first: str) -> None:
    symbols = editor.ask("workspace/symbol", {"query": query})
    assert places([item["location"] for item in symbols], shop)[0] == first


def test_outline_is_a_tree(editor: Editor, shop: Path) -> None:
    outline = editor.ask("textDocument/documentSymbol", {"textDocument": {"uri": (shop / "shop/orders.py").as_uri()}})
    assert {item["name"]: [inner["name"] for inner in item["children"]] for item in outline} == {
        "Order": ["customer", "items", "add", "price"],
        "place": [],
    }


def test_unsaved_lines_move_answers_or_leave_them_out(editor: Editor, shop: Path) -> None:
    orders, pricing = shop / "shop" / "orders.py", shop / "shop" / "pricing.py"
    text = pricing.read_text()
    use = use_of(orders, "= total_cents", "total_cents")
    editor.open(pricing)
    editor.change(pricing, f"# one\n# two\n{text}")
    assert places(editor.at("definition", orders, *use), shop) == ["shop/pricing.py:8:5+11"]
    editor.change(pricing, text.replace("def total_cents(items", "def total(items"), 3)
    assert places(editor.at("definition", orders, *use), shop) == []
    # From a line of a text that is not saved, the saved places are found.
    changed = orders.read_text().replace("class Order:", "class Order:\n    # new\n")
    editor.open(orders, changed)
    line = next(n for n, content in enumerate(changed.splitlines()) if "discount(total)" in content)
    column = changed.splitlines()[line].index("discount")
    assert places(editor.at("definition", orders, line, column), shop) == ["shop/pricing.py:11:5+8"]


def test_what_is_saved_is_taken_in(editor: Editor, shop: Path) -> None:
    orders, pricing = shop / "shop" / "orders.py", shop / "shop" / "pricing.py"
    use = use_of(orders, "= total_cents", "total_cents")
    editor.open(pricing)
    assert places(editor.at("definition", orders, *use), shop) == ["shop/pricing.py:6:5+11"]
    text = "# one\n" * 9 + pricing.read_text()
    pricing.write_text(text)
    editor.change(pricing, text)
    editor.tell("textDocument/didSave", {"textDocument": {"uri": pricing.as_uri()}})
    assert places(editor.at("definition", orders, *use), shop) == ["shop/pricing.py:15:5+11"]
    # Another program than the editor has written: nobody tells of that.
    (shop / "shop" / "store" / "database.py").write_text("\n\nclass Database:\n    pass\n")
    database = use_of(orders, "def place", "Database")
    assert places(editor.at("definition", orders, *database), shop) == ["shop/store/database.py:3:7+8"]


def test_positions_count_units_of_utf16(editor: Editor, shop: Path) -> None:
    file = shop / "shop" / "signs.py"
    file.write_text('from shop.pricing import discount\n\n\ndef sign() -> int:\n    return len("𝕏𝕏") + discount(3)\n')
    line = '    return len("𝕏𝕏") + discount(3)'
    units = len(line[: line.index("discount")].encode("utf-16-le")) // 2
    uses = places(editor.at("references", file, 4, units + 1, context={"includeDeclaration": False}), shop)
    assert [use for use in uses if "signs.py" in use] == [f"shop/signs.py:5:{units + 1}+8", "shop/signs.py:1:26+8"]


HUGE = 2**31 - 1


def test_what_is_not_there_is_no_answer(editor: Editor, shop: Path, tmp_path: Path) -> None:
    orders = shop / "shop" / "orders.py"
    secret = tmp_path / "secret.py"
    secret.write_text("def total_cents(): ...\n")
    (shop / "leads_out.py").symlink_to(secret)
    assert editor.at("definition", orders, HUGE, HUGE) is None
    assert editor.at("hover", orders, 0, HUGE) is None
    for file in (secret, shop / "leads_out.py", shop / "none.py", shop):
        assert editor.at("definition", file, 0, 5) is None, file
        assert editor.ask("textDocument/documentSymbol", {"textDocument": {"uri": file.as_uri()}}) == []
    for uri in ("untitled:Untitled-1", "file:///etc/passwd", "file://%00/%ff", f"{shop.as_uri()}/../secret.py", "x"):
        params = {"textDocument": {"uri": uri}, "position": {"line": 0, "character": 5}}
        assert editor.ask("textDocument/definition", params) is None, uri
    assert editor.ask("workspace/symbol", {"query": ""}) == []


@pytest.mark.parametrize(
    "body",
    [
        b"{",
        b"[]",
        b"\xff\xfe",
        b'{"jsonrpc": "2.0", "id": 7, "method": "textDocument/hover", "params": {"position": -1}}',
        b'{"jsonrpc": "2.0", "id": 7, "method": "no/such", "params": {}}',
        b'{"jsonrpc": "2.0", "method": "textDocument/didChange", "params": 3}',
    ],
)
def test_a_broken_message_ends_nothing(editor: Editor, shop: Path, body: bytes) -> None:
    editor.send(body)
    assert places([editor.ask("workspace/symbol", {"query": "discount"})[0]["location"]], shop) == [
        "shop/pricing.py:11:5+8"
    ]


def test_a_request_can_be_taken_back_while_the_loop_answers(shop: Path) -> None:
    (shop / ".fathom").mkdir()
    with Engine.open(str(shop)) as engine, writer_lock(engine.index_dir):
        editor = Editor()
        editor.begin(shop)
        number = editor.request("workspace/symbol", {"query": "discount"})  # waits for the index of another process
        editor.tell("$/cancelRequest", {"id": number})
        assert editor.response(number)["error"]["code"] == -32800
        assert editor.response(editor.request("no/such", {}))["error"]["code"] == -32601
    assert editor.ask("workspace/symbol", {"query": "discount"})
    assert editor.leave() == 0


def test_a_second_folder_is_refused_in_words(shop: Path, tmp_path: Path) -> None:
    other = tmp_path / "other"
    other.mkdir()
    editor = Editor()
    editor.begin(shop, other)
    editor.ask("workspace/symbol", {"query": "discount"})
    messages = [item["params"]["message"] for item in editor.told if item["method"] == "window/showMessage"]
    assert any(other.as_uri() in text and "one project" in text for text in messages), editor.told
    assert editor.leave() == 0


def test_a_folder_that_is_no_project_is_an_error_with_its_remedy(tmp_path: Path, own_folders: None) -> None:
    editor = Editor()
    params = {"processId": None, "rootUri": (tmp_path / "none").as_uri(), "capabilities": {}}
    error = editor.response(editor.request("initialize", params))["error"]
    assert "no such folder" in error["message"]
    assert "--source-dir" in error["message"]
    early = editor.response(editor.request("workspace/symbol", {"query": "x"}))["error"]
    assert early["code"] == -32002
    editor.process.kill()
    editor.process.communicate()


def test_without_the_extra_the_remedy_is_told(shop: Path) -> None:
    code = (
        "import sys; sys.modules['pygls'] = None; from codefathom.cli import main; sys.exit(main(['lsp', '-C', '.']))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], check=False, cwd=shop, capture_output=True, text=True, timeout=LONG_S
    )
    assert done.returncode == 2
    assert "pip install 'codefathom[lsp]'" in done.stderr
