"""Import names of every language → where their file may lie."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from codefathom.search.graph.imports import import_candidates

LANGUAGES = tuple(
    """bash c clojure cpp csharp dart elixir erlang fortran go groovy haskell hcl java javascript julia kotlin lua
    markdown objc ocaml perl php powershell python r ruby rust scala solidity sql svelte swift
    tsx typescript vue zig""".split()  # noqa: SIM905 -- one name a line would be longer than the tests
)


@pytest.mark.parametrize(
    ("language", "path", "name", "expected"),
    [
        ("python", "src/pkg/a.py", "pkg.sub.mod", ["pkg/sub/mod.py", "pkg/sub/mod/__init__.py", "pkg/sub.py"]),
        ("python", "src/pkg/a.py", "pkg.errors.UsageError", ["pkg/errors.py", "pkg/errors/__init__.py"]),
        ("python", "src/pkg/a.py", "pkg", ["pkg.py", "pkg/__init__.py"]),
        ("python", "src/pkg/a.py", ".b", ["/src/pkg/b.py", "/src/pkg/b/__init__.py", "/src/pkg/__init__.py"]),
        ("python", "src/pkg/sub/a.py", "..b.name", ["/src/pkg/b.py", "/src/pkg/b/name.py"]),
        ("python", "src/pkg/a.py", ".", ["/src/pkg/__init__.py"]),
        ("python", "a.py", ".b", ["/b.py"]),
        ("javascript", "src/a/b.js", "./util", ["/src/a/util.js", "/src/a/util.ts", "/src/a/util/index.js"]),
        ("javascript", "src/a/b.js", "../x.css", ["/src/x.css"]),
        ("typescript", "src/a/b.ts", "../lib/c.js", ["/src/lib/c.ts", "/src/lib/c.js"]),
        ("typescript", "src/a/b.ts", "..", ["/src/index.ts"]),
        ("tsx", "web/src/App.tsx", "@/pages/Home", ["/src/pages/Home.tsx", "pages/Home.tsx", "pages/Home/index.tsx"]),
        ("typescript", "packages/client/src/a.ts", "@trpc/server", ["packages/server/src/index.ts"]),
        ("typescript", "packages/client/src/a.ts", "@trpc/server/observable", ["packages/server/src/observable.ts"]),
        ("typescript", "a.ts", "components/Button", ["components/Button.tsx"]),
        ("vue", "src/App.vue", "./Menu.vue", ["/src/Menu.vue"]),
        ("go", "gin.go", "github.com/gin-gonic/gin/internal/json", ["/internal/json/", "internal/json/"]),
        ("go", "gin.go", "github.com/gin-gonic/gin", ["/"]),
        ("go", "a/b.go", "example.org/mod/v2/api", ["/api/"]),
        ("go", "a/b.go", "myapp/store/sql", ["/store/sql/"]),
        ("rust", "src/a/b.rs", "crate::net::Client", ["/src/net.rs", "/src/net/mod.rs", "/src/net/Client.rs"]),
        ("rust", "crates/x/src/lib.rs", "crate::net::Client", ["/crates/x/src/net.rs"]),
        ("rust", "src/lib.rs", "net", ["/src/net.rs", "/src/net/mod.rs"]),
        ("rust", "src/net.rs", "tcp", ["/src/net/tcp.rs"]),
        ("rust", "src/net/tcp.rs", "super::Client", ["/src/net.rs", "/src/net/mod.rs", "/src/net/Client.rs"]),
        ("rust", "src/net/mod.rs", "self::tcp::Stream", ["/src/net/tcp.rs"]),
        ("rust", "axum/src/lib.rs", "axum_core::response::Response", ["axum-core/src/response.rs"]),
        ("rust", "src/lib.rs", "crate::{a, b::C as D}", ["/src/a.rs", "/src/b.rs"]),
        ("java", "src/A.java", "com.google.gson.Gson", ["com/google/gson/Gson.java"]),
        ("java", "src/A.java", "com.google.gson.Gson.NAME", ["com/google/gson/Gson.java"]),
        ("java", "src/A.java", "com.google.gson.*", ["com/google/gson/"]),
        ("kotlin", "src/A.kt", "org.exposed.sql.Table", ["org/exposed/sql/Table.kt"]),
        ("kotlin", "src/A.kt", "org.exposed.sql.select", ["org/exposed/sql/select.kt", "org/exposed/sql/select/"]),
        (
            "scala",
            "src/A.scala",
            "cats.data.{Chain, EitherT => E}",
            ["cats/data/Chain.scala", "cats/data/EitherT.scala"],
        ),
        ("scala", "src/A.scala", "import cats.syntax._", ["cats/syntax/"]),
        ("csharp", "Dapper/A.cs", "Dapper.ProviderTools.Internal", ["ProviderTools/Internal/"]),
        ("c", "lib/url.c", '"urldata.h"', ["/lib/urldata.h", "urldata.h"]),
        ("c", "src/tool.c", "<curl/curl.h>", ["curl/curl.h"]),
        ("cpp", "absl/a/b.cc", "absl/strings/cord.h", ["absl/strings/cord.h"]),
        ("cpp", "a/b.cc", "../c.h", ["/c.h"]),
        ("ruby", "lib/x/a.rb", "active_support/json", ["lib/active_support/json.rb", "active_support/json.rb"]),
        ("ruby", "lib/x/a.rb", "helper", ["/lib/x/helper.rb", "lib/helper.rb"]),
        ("ruby", "lib/x/a.rb", "../b", ["/lib/b.rb"]),
        ("php", "app/A.php", r"Illuminate\Support\Str", ["Illuminate/Support/Str.php", "Support/Str.php"]),
        ("php", "app/A.php", r"use function App\Http\route", ["Http/route.php"]),
        ("php", "app/A.php", "__DIR__.'/../boot.php'", ["/boot.php"]),
        ("lua", "lua/t/a.lua", "telescope.utils", ["lua/telescope/utils.lua", "lua/telescope/utils/init.lua"]),
        ("elixir", "lib/a.ex", "Ecto.Query.BuilderUtil", ["lib/ecto/query/builder_util.ex"]),
        ("haskell", "src/A.hs", "Data.Aeson.Types", ["Data/Aeson/Types.hs"]),
        ("haskell", "src/A.hs", "Options", ["/src/Options.hs"]),
        ("zig", "src/main.zig", "parsers/x.zig", ["/src/parsers/x.zig"]),
        ("zig", "example/a.zig", "clap", ["/clap.zig", "/src/clap.zig"]),
        ("bash", "libexec/a", "./lib/x.sh", ["/libexec/lib/x.sh", "/lib/x.sh"]),
        ("bash", "libexec/a", "$ROOT/lib/x.sh", ["lib/x.sh"]),
        ("bash", "libexec/a", '"${ROOT%/*}/lib/x.bash"', ["lib/x.bash"]),
        ("dart", "lib/a.dart", "package:shop/src/b.dart", ["shop/lib/src/b.dart", "lib/src/b.dart"]),
        ("dart", "lib/a.dart", "../c.dart", ["/c.dart"]),
        ("r", "R/a.R", "R/b.R", ["/R/R/b.R", "/R/b.R"]),
        ("perl", "bin/a.pl", "Shop::Prices", ["lib/Shop/Prices.pm", "Shop/Prices.pm"]),
        ("julia", "src/Shop.jl", "prices.jl", ["/src/prices.jl"]),
        ("julia", "src/Shop.jl", "..Prices", ["/src/Prices.jl"]),
        ("ocaml", "src/a.ml", "Shop.Prices", ["/src/prices.ml", "/src/prices.mli", "/src/shop.ml"]),
        ("solidity", "contracts/a.sol", "./b.sol", ["/contracts/b.sol"]),
        ("solidity", "contracts/a.sol", "@open/access/Own.sol", ["/@open/access/Own.sol", "access/Own.sol"]),
        ("hcl", "envs/main.tf", "../modules/network", ["/modules/network/"]),
        ("objc", "src/A.m", "B.h", ["/src/B.h", "B.h"]),
        ("erlang", "src/a.erl", "a.hrl", ["/src/a.hrl", "include/a.hrl"]),
        ("erlang", "src/a.erl", "shop_store", ["/src/shop_store.erl"]),
        ("clojure", "src/shop/a.clj", "shop.round-prices", ["shop/round_prices.clj", "shop/round_prices.cljc"]),
        ("powershell", "bin/a.ps1", "$PSScriptRoot/b.ps1", ["/bin/b.ps1"]),
        ("powershell", "bin/a.ps1", "..\\Prices.psm1", ["/Prices.psm1"]),
        ("powershell", "bin/a.ps1", "Shop", ["Shop/Shop.psm1", "Shop.psm1"]),
        ("fortran", "src/a.f90", "Shop_Prices", ["/src/shop_prices.f90", "src/shop_prices.F90"]),
        ("fortran", "src/a.f90", "limits.inc", ["/src/limits.inc"]),
        ("svelte", "src/App.svelte", "./Menu.svelte", ["/src/Menu.svelte"]),
        ("bash", "test/a.bats", "test_helper", ["/test/test_helper.bash"]),
        ("markdown", "docs/a.md", "../src/x.py#L3", ["/src/x.py"]),
        ("markdown", "docs/a.md", "/README.md", ["/README.md"]),
    ],
)
def test_candidates(language: str, path: str, name: str, expected: list[str]) -> None:
    candidates = import_candidates(name, language, path)
    assert set(expected) <= set(candidates), candidates


@pytest.mark.parametrize(
    ("language", "path", "name"),
    [
        ("swift", "a.swift", "Foundation"),
        ("go", "a.go", "/"),
        ("go", "a.go", "fmt"),
        ("rust", "src/lib.rs", "std::fmt"),
        ("zig", "a.zig", "std"),
        ("dart", "a.dart", "dart:async"),
        ("hcl", "a.tf", "hashicorp/consul/aws"),
        ("r", "a.r", "dplyr"),
        ("sql", "a.sql", "orders"),
        ("javascript", "a.js", "node:fs"),
        ("python", "a.py", "...b"),
        ("markdown", "a.md", "https://example.org/x.py"),
        ("markdown", "a.md", "#part"),
        ("python", "a.py", "  "),
        ("bash", "a.sh", "$FILE"),
    ],
)
def test_what_lies_outside_has_no_candidate(language: str, path: str, name: str) -> None:
    assert import_candidates(name, language, path) == ()


def test_a_relative_name_comes_before_a_distant_one() -> None:
    assert import_candidates("x.h", "c", "lib/a.c")[0] == "/lib/x.h"
    assert import_candidates("pkg.a.b", "python", "x.py")[0] == "pkg/a/b.py"


@given(
    st.sampled_from(LANGUAGES),
    st.text(alphabet="ab./\\:$*{}<>@#~ ,'\"\n", max_size=12),
    st.sampled_from(["a.x", "src/a/b.rs", "lib/x/y.py"]),
)
@example("javascript", "/..", "a.x")
def test_any_name_gives_clean_candidates(language: str, name: str, path: str) -> None:
    candidates = import_candidates(name, language, path)
    assert len(set(candidates)) == len(candidates)
    assert all(candidate and ".." not in candidate.split("/") for candidate in candidates)
