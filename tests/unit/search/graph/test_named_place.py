"""What a name means where it stands: by scope and imports, else by the name alone."""

from __future__ import annotations

import pytest

from codefathom.engine import Engine
from codefathom.errors import SourceError

FILES = {
    "shop/price.py": "def total(order):\n    # of the cents\n    return order.cents\n\n\nclass Tax:\n    rate = 7\n",
    "shop/cart.py": (
        "from shop.price import total\nimport shop.price as prices\n\n\n"
        "def checkout(order):\n    cents = total(order)\n    return cents + total(order) + prices.Tax().rate\n\n\n"
        "class Cart:\n    def total(self):\n        return self.total()\n"
    ),
    "other/price.py": "def total(line):\n    return line\n",
    "lone.py": "def lone(order):\n    return order.total\n",
}


@pytest.fixture(scope="module")
def shop(tmp_path_factory: pytest.TempPathFactory) -> Engine:
    root = tmp_path_factory.mktemp("shop")
    (root / "fathom.toml").touch()
    for path, text in FILES.items():
        (root / path).parent.mkdir(exist_ok=True)
        (root / path).write_text(text)
    engine = Engine.open(root)
    engine.index()
    return engine


@pytest.mark.parametrize(
    ("path", "line", "name", "places", "certainty"),
    [
        ("shop/cart.py", 6, "total", ["shop/price.py:1"], "exact"),
        ("shop/cart.py", 7, "total", ["shop/price.py:1"], "exact"),  # the second use in one function
        ("shop/cart.py", 1, "total", ["shop/price.py:1"], "exact"),  # where it is imported
        ("shop/cart.py", 7, "Tax", ["shop/price.py:6"], "exact"),
        ("shop/cart.py", 12, "total", ["shop/cart.py:11"], "exact"),
        ("shop/price.py", 1, "total", ["shop/price.py:1"], "exact"),
        ("lone.py", 2, "total", ["other/price.py:1", "shop/cart.py:11", "shop/price.py:1"], "by-name"),
        ("shop/cart.py", 7, "nothing", [], "by-name"),
    ],
)
def test_a_name_means_what_its_scope_says(
    shop: Engine, path: str, line: int, name: str, places: list[str], certainty: str
) -> None:
    found = shop.name_at(path, line, name)
    assert [f"{item.path}:{item.symbol.name_line}" for item in found.definitions] == places
    assert (found.certainty, found.n_definitions) == (certainty, len(places))
    assert found.is_definition == (f"{path}:{line}" in places)


def test_the_uses_of_what_a_name_means_are_counted(shop: Engine) -> None:
    place = shop.name_at("shop/price.py", 1, "total")
    assert [(use.path, use.line, use.symbol, use.kind) for use in place.uses] == [
        ("shop/cart.py", 6, "checkout", "called by")
    ]
    assert place.n_uses == 1
    assert shop.name_at("shop/cart.py", 7, "nothing").uses == ()


def test_a_file_that_is_not_indexed_is_named(shop: Engine) -> None:
    with pytest.raises(SourceError, match=r"no such file in the index: 'gone.py'"):
        shop.name_at("gone.py", 1, "total")
