"""Import names find the right document of a small project."""

from __future__ import annotations

import pytest

from codefathom.search.graph.resolve import Resolver, family

PROJECT = {
    "src/shop/__init__.py": "python",
    "src/shop/orders.py": "python",
    "src/shop/os.py": "python",
    "src/shop/util/__init__.py": "python",
    "src/shop/util/text.py": "python",
    "other/shop2/orders.py": "python",
    "scripts/run.py": "python",
    "web/src/money.ts": "typescript",
    "web/src/cart/index.tsx": "tsx",
    "web/src/App.vue": "vue",
    "api/main.go": "go",
    "api/store/sql.go": "go",
    "api/store/memory.go": "go",
    "api/store/sql_test.go": "go",
    "api/store/README.md": "markdown",
    "cache/store/x.go": "go",
    "net/src/lib.rs": "rust",
    "net/src/tcp.rs": "rust",
    "net/src/tcp/stream.rs": "rust",
    "a/include/lib/x.h": "c",
    "b/include/lib/x.h": "c",
    "b/main.cpp": "cpp",
    "app/Models/User.php": "php",
    "app/Http/Home.php": "php",
}


@pytest.fixture(scope="module")
def resolver() -> Resolver:
    return Resolver(PROJECT.items())


@pytest.mark.parametrize(
    ("path", "name", "paths"),
    [
        ("scripts/run.py", "shop.orders", ["src/shop/orders.py"]),
        ("scripts/run.py", "shop.orders.total", ["src/shop/orders.py"]),
        ("scripts/run.py", "shop", ["src/shop/__init__.py"]),
        ("src/shop/orders.py", "os", []),
        ("src/shop/orders.py", ".os", ["src/shop/os.py"]),
        ("src/shop/orders.py", ".util.text", ["src/shop/util/text.py"]),
        ("src/shop/util/text.py", "..orders", ["src/shop/orders.py"]),
        ("src/shop/orders.py", "shop.orders", []),
        ("scripts/run.py", "numpy", []),
        ("web/src/App.vue", "./cart", ["web/src/cart/index.tsx"]),
        ("web/src/cart/index.tsx", "../money", ["web/src/money.ts"]),
        ("web/src/cart/index.tsx", "@/money", ["web/src/money.ts"]),
        ("web/src/money.ts", "react", []),
        ("api/main.go", "example.org/me/shop/api/store", ["api/store/memory.go", "api/store/sql.go"]),
        ("api/main.go", "fmt", []),
        ("net/src/lib.rs", "tcp", ["net/src/tcp.rs"]),
        ("net/src/lib.rs", "crate::tcp::stream::Stream", ["net/src/tcp/stream.rs"]),
        ("net/src/tcp/stream.rs", "super::super::tcp", ["net/src/tcp.rs"]),
        ("b/main.cpp", '"lib/x.h"', ["b/include/lib/x.h"]),
        ("app/Http/Home.php", r"App\Models\User", ["app/Models/User.php"]),
        ("nowhere.py", "shop", []),
    ],
)
def test_resolve(resolver: Resolver, path: str, name: str, paths: list[str]) -> None:
    assert sorted(resolver.resolve(name, path)) == paths


def test_several_names_in_braces_are_found_one_by_one() -> None:
    resolver = Resolver([("src/lib.rs", "rust"), ("src/a.rs", "rust"), ("src/b.rs", "rust")])
    assert resolver.resolve("crate::{a, b::C}", "src/lib.rs") == ("src/a.rs", "src/b.rs")


def test_what_resolves_may_be_meant(resolver: Resolver) -> None:
    names = ["shop.orders.total", "shop", ".util.text", "./cart", "../money", "x.org/m/s/api/store", r"App\Models\User"]
    for path in PROJECT:
        for name in names:
            assert all(resolver.may_mean(name, target) for target in resolver.resolve(name, path))
    assert not resolver.may_mean("numpy", "src/shop/orders.py")


def test_languages_that_use_one_another_are_a_family() -> None:
    assert family("tsx") == family("javascript") != family("python")
    assert family("cpp") == family("c")


GO = [("go.mod", "text"), ("gin.go", "go"), ("binding/json.go", "go"), ("tools/go.mod", "text"), ("tools/x/x.go", "go")]


@pytest.mark.parametrize(
    ("name", "paths"),
    [
        ("github.com/gin-gonic/gin", ("gin.go",)),
        ("github.com/gin-gonic/gin/binding", ("binding/json.go",)),
        ("github.com/gin-gonic/gin/tools/x", ("tools/x/x.go",)),
        ("github.com/gin-gonic/ginger", ()),
        ("github.com/other/lib/binding", ()),
        ("encoding/binding", ()),
    ],
)
def test_go_packages_lie_under_their_modules(name: str, paths: tuple[str, ...]) -> None:
    modules = {"github.com/gin-gonic/gin": "", "github.com/gin-gonic/gin/tools": "tools"}
    resolver = Resolver([*GO, ("main/main.go", "go")], modules)
    assert resolver.resolve(name, "main/main.go") == paths


def test_a_foreign_package_is_not_the_root_of_the_project() -> None:
    assert Resolver(GO).resolve("github.com/other/lib", "binding/json.go") == ()


def test_of_many_files_of_one_name_the_same_is_meant_as_of_few() -> None:
    packages = {f"part{number}/{name}/__init__.py": "python" for number in range(40) for name in ("a", "b")}
    paths = {**packages, "part7/use.py": "python", "part9/a/use.py": "python", "a/__init__.py": "python"}
    many = Resolver(paths.items())
    for user, name in (
        ("part7/use.py", "a"),
        ("part9/a/use.py", "b"),
        ("part7/use.py", "part30.b"),
        ("part7/use.py", "c"),
    ):
        wanted = {path: paths[path] for path in paths if path.startswith((user.partition("/")[0] + "/", "part30/"))}
        assert many.resolve(name, user) == Resolver(wanted.items()).resolve(name, user)
    assert many.resolve("a", "part7/use.py") == ("part7/a/__init__.py",)
