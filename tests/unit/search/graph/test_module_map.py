"""The modules of a project and the imports between them."""

from __future__ import annotations

from pathlib import Path

import pytest

from codefathom.engine import Engine
from codefathom.errors import SourceError
from codefathom.search.graph.module_map import MOST_MODULES, ModuleMap

FILES = {
    "main.py": "from shop.cart import checkout\nfrom shop.tax.rates import rate\n",
    "shop/cart.py": "import shop.tax.rates\nfrom shop.price import total\n",
    "shop/price.py": "def total(order): ...\n",
    "shop/tax/rates.py": "def rate(): ...\n",
    "shop/tax/eu/vat.py": "from shop.tax import rates\n",
    "tests/test_cart.py": "from shop.cart import checkout\n",
    "tests/main.py": "import os\n",
    "README.md": "# Shop\n",
}


def mapped(root: Path, files: dict[str, str], folder: str = "") -> ModuleMap:
    (root / "fathom.toml").touch()
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    with Engine.open(root) as engine:
        engine.index()
        return engine.module_map(folder)


def test_folders_of_code_are_modules_and_imports_lead_between_them(tmp_path: Path) -> None:
    found = mapped(tmp_path, FILES)
    assert [(item.path, item.n_files, item.language) for item in found.modules] == [
        ("shop", 2, "python"),
        ("tests", 2, "python"),
        ("", 1, "python"),
        ("shop/tax", 1, "python"),
        ("shop/tax/eu", 1, "python"),
    ]
    assert {(link.source, link.target, link.n_imports) for link in found.links} == {
        ("", "shop", 1),
        ("", "shop/tax", 1),
        ("shop", "shop/tax", 1),
        ("shop/tax/eu", "shop/tax", 1),
        ("tests", "shop", 1),
    }
    assert (found.n_files, found.n_modules_left_out, found.n_files_left_out) == (7, 0, 0)
    assert (found.entry_points, found.n_entry_points) == (("main.py",), 1)


def test_a_folder_has_a_map_of_its_own(tmp_path: Path) -> None:
    found = mapped(tmp_path, FILES, "shop/tax")
    assert [item.path for item in found.modules] == ["shop/tax", "shop/tax/eu"]
    assert [tuple(link) for link in found.links] == [("shop/tax/eu", "shop/tax", 1)]
    with Engine.open(tmp_path) as engine, pytest.raises(SourceError, match="no code is indexed below 'nowhere'"):
        engine.module_map("nowhere")


def test_a_folder_that_would_give_too_many_modules_stays_whole(tmp_path: Path) -> None:
    many = {f"deep/d{n}/a.py": "" for n in range(MOST_MODULES)} | {"few/a/x.py": "import few.b.y\n", "few/b/y.py": ""}
    found = mapped(tmp_path, many)
    assert [(item.path, item.n_files, item.is_whole, item.has_folders) for item in found.modules] == [
        ("deep", MOST_MODULES, True, True),
        ("few/a", 1, True, False),
        ("few/b", 1, True, False),
    ]
    assert [tuple(link) for link in found.links] == [("few/a", "few/b", 1)]


def test_a_wide_folder_says_what_is_left_out(tmp_path: Path) -> None:
    wide = {f"d{n:03}/a.py": "" for n in range(MOST_MODULES + 5)} | {"d000/b.py": "import d064.a\n"}
    found = mapped(tmp_path, wide)
    assert len(found.modules) == MOST_MODULES
    assert found.modules[0].path == "d000"
    assert (found.n_modules_left_out, found.n_files_left_out) == (5, 5)
    assert found.links == ()


def test_a_project_without_code_has_an_empty_map(tmp_path: Path) -> None:
    found = mapped(tmp_path, {"README.md": "# Nothing\n"})
    assert (found.modules, found.n_files, found.entry_points) == ((), 0, ())
