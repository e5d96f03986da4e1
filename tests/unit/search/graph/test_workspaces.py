"""Imports between the packages of one repository, by the manifests of each ecosystem, in small projects."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.search.graph.test_resolved_graph import EXACT, edges, users

from codefathom.search.graph.workspaces import Workspaces

PNPM = {
    "pnpm-workspace.yaml": "packages:\n  - 'libs/*'\n",
    "libs/ink/package.json": '{"name": "@press/ink", "main": "./dist/index.js", "exports": {".": {"types": '
    '"./dist/index.d.ts", "import": "./dist/index.mjs"}, "./dye/*": "./dist/dye/*.js", "./set": "./src/colour.ts"}}',
    "libs/ink/src/index.ts": "export { mix } from './mixing'\nexport * from './dye/red'\n",
    "libs/ink/src/mixing.ts": "export function mix() {}\n",
    "libs/ink/src/dye/red.ts": "export function redden() {}\n",
    "libs/ink/src/colour.ts": "export function tint() {}\n",
    "libs/page/package.json": '{"name": "page", "dependencies": {"@press/ink": "workspace:*", "dye": '
    '"npm:@press/ink@1"}, "imports": {"#own/*": "./src/own/*.ts", "#ink": "@press/ink"}}',
    "libs/page/src/main.ts": "import { mix } from '@press/ink'\nimport { redden } from '@press/ink/dye/red'\n"
    "import { tint } from '@press/ink/set'\nimport { fold } from '#own/sheet'\n"
    "export function print() { mix(); redden(); tint(); fold() }\n",
    "libs/page/src/other.ts": "import { mix } from 'dye'\nimport { redden } from '#ink'\nmix(); redden()\n",
    "libs/page/src/own/sheet.ts": "export function fold() {}\n",
}
PATHS = {
    "tsconfig.base.json": '{ // for all\n "compilerOptions": {"baseUrl": ".", "paths": {"@deck/*": ["kits/*/src"], '
    '"rig": ["kits/rig/entry.ts"],}, },}',
    "apps/web/tsconfig.json": '{"extends": "../../tsconfig.base", "files": []}',
    "apps/web/main.ts": "import { hoist } from '@deck/mast'\nimport { haul } from 'rig'\nhoist(); haul()\n",
    "apps/far/tsconfig.json": '{"references": [{"path": "./tsconfig.app.json"}]}',
    "apps/far/tsconfig.app.json": '{"compilerOptions": {"paths": {"~/*": ["./code/*"]}}}',
    "apps/far/code/rope.ts": "export function splice() {}\n",
    "apps/far/run.ts": "import { splice } from '~/rope'\nsplice()\n",
    "kits/mast/src/index.ts": "export function hoist() {}\n",
    "kits/rig/entry.ts": "export function haul() {}\n",
}
CARGO = {
    "Cargo.toml": '[workspace]\nmembers = ["parts/*"]\n[workspace.dependencies]\n'
    'loom = { package = "wool-loom", path = "parts/loom" }\n',
    "parts/loom/Cargo.toml": '[package]\nname = "wool-loom"\n[lib]\npath = "code/root.rs"\n',
    "parts/loom/code/root.rs": "pub mod warp;\npub fn weave() {}\n",
    "parts/loom/code/warp.rs": "use crate::weave;\npub fn stretch() { weave(); }\n",
    "parts/spin/Cargo.toml": '[package]\nname = "spin-yarn"\n[lib]\nname = "yarn"\n',
    "parts/spin/src/lib.rs": "pub fn twist() {}\n",
    "parts/mill/Cargo.toml": '[package]\nname = "mill"\n[dependencies]\nloom.workspace = true\n'
    'spin-yarn = { path = "../spin" }\nserde = "1"\n',
    "parts/mill/src/main.rs": "use loom::{weave, warp::stretch};\nuse yarn::twist;\n"
    "fn main() { weave(); stretch(); twist(); }\n",
    "parts/mill/src/outer.rs": "use serde::twist;\nfn go() { twist(); }\n",
}
GO_WORK = {
    "go.work": "go 1.22\nuse (\n\t./oven\n\t./shop\n)\nreplace example.org/flour => ./third/flour\n",
    "oven/go.mod": "module example.org/oven\n",
    "oven/heat/heat.go": "package heat\nfunc Bake() {}\n",
    "third/flour/sift.go": "package flour\nfunc Sift() {}\n",
    "shop/go.mod": "module example.org/shop\n",
    "shop/main.go": 'package main\nimport (\n"example.org/oven/heat"\n"example.org/flour"\n)\n'
    "func main() { heat.Bake(); flour.Sift() }\n",
}
PYTHON_ROOTS = {
    "pyproject.toml": '[project]\nname = "x"\ndependencies = ["Requests-Cache>=1"]\n'
    '[tool.setuptools.package-dir]\n"" = "code"\ngarden = "code/plots"\n',
    "code/plots/__init__.py": "",
    "code/plots/bed.py": "def dig(): pass\n\ndef water(): pass\n",
    "other/setup.cfg": "[options]\npackage_dir =\n    = src\n",
    "other/src/shed/__init__.py": "from shed.tools import rake\n",
    "other/src/shed/tools.py": "def rake(): pass\n",
    "app.py": "from garden.bed import dig\nfrom shed import rake\ndef go(): dig(); rake()\n",
    "far.py": "from requests_cache import water\nwater()\n",
}
PHP = {
    "composer.json": '{"autoload": {"psr-4": {"Acme\\\\Tea\\\\": "lib/"}}}',
    "lib/Pot.php": "<?php\nnamespace Acme\\Tea;\nclass Pot { public static function brew() {} }\n",
    "web/page.php": "<?php\nuse Acme\\Tea\\Pot;\nfunction go() { Pot::brew(); }\n",
}
SWIFT = {
    "Package.swift": '// swift-tools-version:5.9\nimport PackageDescription\nlet package = Package(\n  name: "kiln",\n'
    '  targets: [\n    // .target(name: "Old"),\n    .target(name: "Clay"),\n'
    '    .target(name: "Glaze", dependencies: ["Clay", .product(name: "Log", package: "log")], path: "Code/Glaze"),\n'
    '    .executableTarget(name: "kiln", dependencies: [.target(name: "Glaze")]),\n'
    '    .testTarget(name: "ClayTests", dependencies: ["Clay"]),\n  ]\n)\n',
    "Sources/Clay/Pot.swift": "public struct Pot {}\npublic func knead() {}\nfunc wedge() {}\n",
    "Sources/Clay/Deep/Wheel.swift": "func spin() { wedge() }\n",
    "Code/Glaze/Dip.swift": "import Clay\npublic func dip(_ pot: Pot) { knead() }\n",
    "Code/Glaze/Old.swift": "import Log\nfunc plain() {}\n",
    "Sources/kiln/Fire.swift": "import Glaze\nfunc wedge() {}\nfunc fire() { dip(1); wedge() }\n",
    "Tests/ClayTests/PotTests.swift": "@testable import Clay\nfunc check() { knead() }\n",
    "Other/Loose.swift": "func loose() { knead() }\n",
}
DART = {
    "kettle/pubspec.yaml": "name: hot_water\n",
    "kettle/lib/boil.dart": "void boil() {}\n",
    "cup/lib/main.dart": "import 'package:hot_water/boil.dart';\nvoid main() { boil(); }\n",
}
MAVEN = {
    "pom.xml": "<project><modules><module>core</module><module>app</module></modules></project>",
    "core/src/main/java/org/kiln/Clay.java": "package org.kiln;\npublic class Clay { public static void fire() {} }\n",
    "app/src/main/java/org/shop/Main.java": "package org.shop;\nimport org.kiln.Clay;\n"
    "class Main { void go() { Clay.fire(); } }\n",
}
DOTNET = {
    "Core/Core.csproj": "<Project/>",
    "Core/Deep/Wheel.cs": "namespace Bike.Parts;\npublic class Wheel { public static void Spin() {} }\n",
    "App/Main.cs": "using Bike.Parts;\nclass Main { void Go() { Wheel.Spin(); } }\n",
}
ELIXIR = {
    "apps/bees/mix.exs": "defmodule Bees.MixProject do\nend\n",
    "apps/bees/lib/bees/hive.ex": "defmodule Bees.Hive do\n  def swarm(), do: 1\nend\n",
    "apps/web/lib/web/page.ex": "defmodule Web.Page do\n  alias Bees.Hive\n  def go(), do: Hive.swarm()\nend\n",
}


@pytest.mark.parametrize(
    ("files", "target", "expected"),
    [
        (PNPM, "@@mix", {"main.ts": EXACT, "other.ts": EXACT}),
        (PNPM, "@@redden", {"main.ts": EXACT, "other.ts": EXACT}),
        (PNPM, "@@tint", {"main.ts": EXACT}),
        (PNPM, "@@fold", {"main.ts": EXACT}),
        (PATHS, "@@hoist", {"main.ts": EXACT}),
        (PATHS, "@@haul", {"main.ts": EXACT}),
        (PATHS, "@@splice", {"run.ts": EXACT}),
        (CARGO, "@@weave", {"main.rs": EXACT, "warp.rs": EXACT}),
        (CARGO, "@@stretch", {"main.rs": EXACT}),
        (CARGO, "@@twist", {"main.rs": EXACT}),
        (GO_WORK, "@@Bake", {"main.go": EXACT}),
        (GO_WORK, "@@Sift", {"main.go": EXACT}),
        (PYTHON_ROOTS, "@@dig", {"app.py": EXACT}),
        (PYTHON_ROOTS, "@@rake", {"app.py": EXACT}),
        (PYTHON_ROOTS, "@@water", {}),
        (PHP, "@@Pot.brew", {"page.php": EXACT}),
        (DART, "@@boil", {"main.dart": EXACT}),
        (SWIFT, "@@knead", {"Dip.swift": EXACT, "PotTests.swift": EXACT, "Loose.swift": ("by-name", 1)}),
        (SWIFT, "@@Pot", {"Dip.swift": EXACT}),
        (SWIFT, "@@dip", {"Fire.swift": EXACT}),
        (SWIFT, "@Sources/Clay/Pot.swift @@wedge", {"Wheel.swift": EXACT}),
        (MAVEN, "@@Clay.fire", {"Main.java": EXACT}),
        (DOTNET, "@@Wheel.Spin", {"Main.cs": EXACT}),
        (ELIXIR, "@@swarm", {"page.ex": EXACT}),
    ],
)
def test_uses_in_other_packages(
    tmp_path: Path, files: dict[str, str], target: str, expected: dict[str, tuple[str, int]]
) -> None:
    assert users(edges(tmp_path, files, target)) == expected


@pytest.mark.parametrize(
    ("files", "target", "importer"),
    [
        (PNPM, "libs/ink/src/colour.ts", "main.ts"),
        (PNPM, "libs/page/src/own/sheet.ts", "main.ts"),
        (PATHS, "kits/rig/entry.ts", "main.ts"),
        (CARGO, "parts/loom/code/root.rs", "main.rs"),
        (PYTHON_ROOTS, "code/plots/bed.py", "app.py"),
    ],
)
def test_files_of_other_packages_have_importers(
    tmp_path: Path, files: dict[str, str], target: str, importer: str
) -> None:
    kinds = {(edge.kind, edge.path.rpartition("/")[2]) for edge in edges(tmp_path, files, target).edges}
    assert ("imported by", importer) in kinds


# ---- what cannot be followed

FOUR, THREE, ONE = (
    f"{n} of a package of this name could not be followed" for n in ("4 imports", "3 imports", "1 import")
)
LOST = {
    "core/brew.py": "def steep(): pass\n\nclass Leaf:\n    def dry(self): pass\n",
    "a.py": "from tea_house.brew import steep\ndef go(): steep()\n",
    "b.py": "import tea_house.brew as brew\ndef go(): brew.steep()\n",
    "c.py": "from tea_house.brew import steep\n",
    "d.py": "from json import steep\nsteep()\n",
    "barrel.py": "from generated import *\n",
    "e.py": "from barrel import steep\nsteep()\n",
    "f.py": "from barrel import steep\nsteep()\n",  # by the same import of the barrel
}
LOST_SCRIPTS = {
    "package.json": '{"dependencies": {"left-pad": "^1.0.0", "@own/gone": "workspace:*"}}',
    "src/pad.ts": "export function pad() {}\nexport function fill() {}\n",
    "a.ts": "import { pad } from '@unknown/strings'\npad()\n",
    "b.ts": "import { pad } from 'left-pad'\npad()\n",
    "c.ts": "import { pad } from '@own/gone'\npad()\n",
    "d.ts": "import { pad } from './generated/pad'\npad()\n",
    "e.ts": "import { fill } from '@unknown/strings'\nfill()\n",
}


@pytest.mark.parametrize(
    ("files", "target", "paths", "said"),
    [
        (
            LOST,
            "@@steep",
            ["a.py", "b.py", "c.py", "e.py", "f.py"],
            FOUR,
        ),
        (LOST_SCRIPTS, "@@pad", ["a.ts", "c.ts", "d.ts"], THREE),
        (LOST_SCRIPTS, "@@fill", ["e.ts"], ONE),
        (
            LOST,
            "core/brew.py",
            ["a.py", "b.py", "c.py", "e.py", "f.py"],
            FOUR,
        ),
    ],
)
def test_an_import_that_leads_nowhere_deletes_no_edge(
    tmp_path: Path, files: dict[str, str], target: str, paths: list[str], said: str
) -> None:
    result = edges(tmp_path, files, target)
    assert sorted({edge.path for edge in result.edges}) == paths
    assert {(edge.certainty, edge.likely) for edge in result.edges} == {("by-name", False)}
    assert said in result.completeness
    assert [str(note) for note in result.notes] == [said]


def test_what_is_known_to_be_outside_is_not_counted(tmp_path: Path) -> None:
    result = edges(tmp_path, PYTHON_ROOTS, "@@water")
    assert (result.edges, result.notes) == ((), ())


# ---- hostile manifests

HOSTILE = {
    "package.json": '{"name": "x", "main": "../../../etc/passwd", "exports": {"./*": "../../*"}, "imports": '
    '{"#a": "#b", "#b": "#a"}}',
    "tsconfig.json": '{"extends": ["./tsconfig.json", "./tsconfig.b.json"], "compilerOptions": {"baseUrl": '
    '"../../..", "paths": {"*": ["../../*", "/etc/*"]}}, "references": [{"path": "."}]}',
    "tsconfig.b.json": '{"extends": "./tsconfig.json"}',
    "deep/package.json": "[" * 100_000,
    "deep/tsconfig.json": '{"a":' * 50_000,
    "deep/Cargo.toml": "a = " + "[" * 5_000,
    "large/package.json": '{"name": "y", "x": "' + "y" * 400_000 + '"}',
    "odd/package.json": '{"name": 3, "exports": [[[{"a": [1, null]}]], "./x.js"], "dependencies": []}',
    "odd/Cargo.toml": '[package]\nname = 3\n[lib]\npath = "../../../etc/lib.rs"\n',
    "odd/pyproject.toml": '[tool.setuptools.package-dir]\n"" = "../.."\n[project]\ndependencies = 3\n',
    "odd/composer.json": '{"autoload": {"psr-4": {"A\\\\": "../../etc/"}}}',
}


@pytest.mark.parametrize(
    ("language", "name"),
    [
        *(("typescript", name) for name in ("x", "x/passwd", "#a", "#b", "etc/passwd", "y", ".", "..", "", "@", "*")),
        *(("rust", name) for name in ("odd::lib", "crate::lib", "::", "etc::passwd")),
        *(("python", name) for name in ("etc.passwd", "a", "", ".")),
        *(("php", name) for name in ("A\\passwd", "A", "")),
        *(("dart", name) for name in ("package:x/../../y", "package:")),
    ],
)
def test_a_hostile_manifest_leads_nowhere(language: str, name: str) -> None:
    workspaces = Workspaces(HOSTILE, lambda paths: ((path, HOSTILE[path]) for path in paths))
    for path in ("odd/a.ts", "deep/a.ts", "a.ts"):
        candidates = workspaces.candidates(name, language, path)
        assert all(file.startswith("/") and "etc" not in file.split("/")[:2] for file in candidates), candidates
        assert len(candidates) <= 200
        assert workspaces.is_foreign(name, language, path) in (True, False)


def test_a_name_in_one_of_very_many_packages_is_found() -> None:
    """Each has a folder in which names begin, and only so many files are compared with an import."""
    files = {f"part{number}/setup.cfg": "[options]\npackage_dir =\n    = .\n" for number in range(120)}
    files |= {f"part{number}/own{number}/__init__.py": "" for number in range(120)}
    files |= {f"part{number}/common/own{number}.py": "" for number in range(120)}  # a package that many are parts of
    workspaces = Workspaces(files, lambda paths: ((path, files[path]) for path in paths))
    for number in (0, 60, 119):
        inside = [file for file in workspaces.candidates(f"own{number}.f", "python", "x.py") if file[1:] in files]
        assert inside == [f"/part{number}/own{number}/__init__.py"]
        inside = [file for file in workspaces.candidates(f"common.own{number}", "python", "x.py") if file[1:] in files]
        assert inside[:1] == [f"/part{number}/common/own{number}.py"]
    assert workspaces.candidates("os", "python", "x.py") == ()
