"""Uses that are no plain call: through a member, as a value, in a macro, under a name that a file gives to another."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.unit.search.graph.test_resolved_graph import edges

PYTHON = {
    "coat.py": "import enum\nclass Coat(enum.Enum):\n    GLOSS = 1\n\nclass Rules:\n    WIDTH = 3\n\n"
    "def brush(): pass\n\npalette = {}\n",
    "wall.py": "from coat import Coat, palette, brush\nimport coat\n\ndef member():\n    return Coat.GLOSS\n\n"
    "def deep():\n    return coat.Rules.WIDTH\n\ndef value():\n    run(brush)\n\ndef item():\n    palette.get(1)\n\n"
    "def shadow(palette):\n    palette.get(1)\n",
}
TYPESCRIPT = {
    "dial.ts": "export enum Speed { Slow }\nexport const STEPS = { a: 1 }\nexport class Knob { static turn() {} }\n"
    "function hidden() {}\nexport { hidden as shown }\nexport default function spin() {}\n"
    "export const kit = { run: 1 }\n",
    "all.ts": "export * from './dial'\nexport { default as whirl } from './dial'\n"
    "export { shown as seen } from './dial'\n",
    "use.ts": "import rotate, { Speed, STEPS, Knob, shown, kit } from './dial'\n"
    "export function member() { return Speed.Slow }\nexport function field() { return STEPS.a }\n"
    "export function stat() { Knob.turn() }\nexport function renamed() { shown() }\n"
    "export function whole() { rotate() }\nexport function object() { kit.run() }\n"
    "export function value() { go(shown) }\n",
    "far.ts": "import { whirl, seen, Speed } from './all'\nexport function barrel() { whirl(); return Speed.Slow }\n"
    "export function twice() { seen() }\n",
    "other.ts": "import spin from './plain'\nexport function none() { spin() }\n",
    "plain.ts": "function still() {}\nexport default still\n",
}
NAMESPACES = {
    "tests/rooms.ts": "export function dusty() {}\nexport const airy = 1\n",
    "tests/use.ts": "import * as rooms from './rooms'\nexport function value() { run(rooms.dusty) }\n"
    "export function item() { return { kind: rooms.airy } }\nexport function own(rooms: any) { run(rooms.dusty) }\n",
    "tests/old.js": "const rooms = require('./rooms')\nfunction required() { run(rooms.dusty) }\n",
    "house/rooms.py": "mood = None\n\ndef open_up(): pass\n",
    "house/use.py": "from house import rooms\nimport house.rooms\n\ndef value():\n    return run(rooms.mood)\n\n"
    "def whole():\n    house.rooms.mood = rooms.open_up\n",
}
PASSED_ON = {
    "base.ts": "export function weave() {}\nexport function spare() {}\n",
    "index.ts": "import { weave, spare } from './base'\nexport { weave as createCloth, spare as default }\n",
    "use.ts": "import { createCloth } from '.'\nimport extra from './index'\n"
    "export function renamed() { createCloth() }\nexport function whole() { extra() }\n",
}
COMMENTED = {
    "base.ts": "export function weave() {}\nexport function knit() {}\nfunction sew() {}\n"
    "export {\n  // by hand\n  sew as stitch, // slowly, {so}\n}\n",
    "index.ts": "export {\n  // js\n  weave,\n  /* types, */ knit as purl, // }\n} from './base'\n",
    "use.ts": "import {\n  // of cloth\n  weave,\n  purl,\n} from './index'\nimport { stitch } from './base'\n"
    "export function plain() { weave() }\nexport function renamed() { purl() }\nexport function own() { stitch() }\n",
}
LONG = {
    "base.ts": "export function weave() {}\n",
    "index.ts": "export {\n" + "".join(f"  someOtherName{n:04},\n" for n in range(300)) + "  weave,\n} from './base'\n",
    "use.ts": "import { weave } from './index'\nexport function plain() { weave() }\n",
}
COMMON = {
    "lib.js": "function mend() {}\nfunction patch() {}\nmodule.exports = { mend, fix: patch }\n",
    "main.js": "const { mend, fix } = require('./lib')\nfunction go() { mend(); fix() }\n",
}
JAVA = {
    "k/Grade.java": "package k;\npublic enum Grade { FINE; public static final int MOST = 3; }\n",
    "k/Sieve.java": "package k;\nclass Sieve {\n  Object a() { return Grade.FINE; }\n  int b() {\n"
    "    return Grade.MOST;\n  }\n}\n",
}
PACKAGE = {
    "dye/__init__.py": "from .vat import dip as dip\n",
    "dye/vat.py": "def dip(): pass\n",
    "dye/deep/__init__.py": "def soak(): pass\n",
    "dye/deep/tub.py": "def rinse(): pass\n",
    "work.py": "import dye.deep.tub\n\ndef outer():\n    dye.dip()\n\ndef middle():\n    dye.deep.soak()\n\n"
    "def inner():\n    dye.deep.tub.rinse()\n",
}
MACROS = {
    "src/lib.rs": "pub mod grain;\npub mod saw;\n",
    "src/grain.rs": "pub trait Grain {}\npub fn sand() {}\nmod inner;\npub use self::inner::Hidden;\n",
    "src/grain/inner.rs": "pub trait Hidden {}\n",
    "src/saw.rs": "#[macro_export]\nmacro_rules! make {\n    ($name:ident) => {\n"
    "        impl $crate::grain::Grain for $name {}\n"
    "        impl $crate::grain::Hidden for $name {}\n"
    "        fn run() { $crate::grain::sand() }\n    };\n}\nfn plain(it: impl crate::grain::Hidden) {}\n",
}
GROUPS = {
    "src/lib.rs": "pub mod bolt;\npub mod nut;\nmod work;\nmod own;\n",
    "src/bolt.rs": "pub mod head;\npub struct Shank;\n",
    "src/bolt/head.rs": "pub struct Hex;\npub struct Torx;\n",
    "src/nut.rs": "pub struct Wing;\npub fn turn() {}\n",
    "src/work.rs": "use crate::{\n    bolt::{head::{Hex, Torx as Star}, Shank},\n    nut::{Wing, turn as spin},\n};\n"
    "fn hex(a: Hex) {}\nfn star(a: Star) {}\nfn shank(a: Shank) {}\nfn wing(a: Wing) { spin() }\n",
    "src/own.rs": "use crate::{nut::{self, Wing}, bolt::{self as screw}};\nfn module() { nut::turn() }\n"
    "fn renamed(a: screw::Shank) {}\n",
}
RUST = {
    "src/lib.rs": "mod plank;\nuse plank::Plank;\nfn cut(n: i32) -> i32 { n }\n#[test]\nfn test() {\n"
    "    assert_eq!(cut(1), 1);\n}\nfn list() {\n    vec![Plank::MOST, plank::plane(2)];\n}\n",
    "src/plank.rs": "pub enum Plank { Oak }\nimpl Plank { pub const MOST: u8 = 1; }\npub fn plane(n: u8) -> u8 { n }\n",
}
C = {
    "pipe.h": "int flow(int x);\n#define FLOW_TWICE(x) (flow(x) + \\\n  flow(x)) /* drain(x) */\n#define SIZE 3\n",
    "pipe.c": '#include "pipe.h"\nint flow(int x) { return x; }\nint drain(int x) { return x; }\n'
    "int full(void) { return flow(SIZE); }\n",
}


@pytest.mark.parametrize(
    ("files", "target", "expected"),
    [
        (PYTHON, "@@Coat", {"wall.py member"}),
        (PYTHON, "@@Coat.GLOSS", {"wall.py member"}),
        (PYTHON, "@@Rules", {"wall.py deep"}),
        (PYTHON, "@@Rules.WIDTH", {"wall.py deep"}),
        (PYTHON, "@@brush", {"wall.py value"}),
        (PYTHON, "@@palette", {"wall.py item"}),
        (PACKAGE, "@@dip", {"work.py outer"}),
        (PACKAGE, "@@soak", {"work.py middle"}),
        (PACKAGE, "@@rinse", {"work.py inner"}),
        (MACROS, "@@Grain", {"saw.rs make"}),
        (MACROS, "@@sand", {"saw.rs make.run"}),
        (MACROS, "@@Hidden", {"saw.rs make", "saw.rs plain"}),
        (GROUPS, "@@Hex", {"work.rs hex"}),
        (GROUPS, "@@Torx", {"work.rs star"}),
        (GROUPS, "@@Shank", {"work.rs shank", "own.rs renamed"}),
        (GROUPS, "@@Wing", {"work.rs wing"}),
        (GROUPS, "@@turn", {"work.rs wing", "own.rs module"}),
        (TYPESCRIPT, "@@Speed", {"use.ts member", "far.ts barrel"}),
        (TYPESCRIPT, "@@STEPS", {"use.ts field"}),
        (TYPESCRIPT, "@@Knob", {"use.ts stat"}),
        (TYPESCRIPT, "@@Knob.turn", {"use.ts stat"}),
        (TYPESCRIPT, "@@hidden", {"use.ts renamed", "use.ts value", "far.ts twice"}),
        (TYPESCRIPT, "@@spin", {"use.ts whole", "far.ts barrel"}),
        (TYPESCRIPT, "@@still", {"other.ts none"}),
        (TYPESCRIPT, "@@kit", {"use.ts object"}),
        (NAMESPACES, "@@dusty", {"use.ts value", "old.js required"}),
        (NAMESPACES, "@@airy", {"use.ts item"}),
        (NAMESPACES, "@@mood", {"use.py value", "use.py whole"}),
        (NAMESPACES, "@@open_up", {"use.py whole"}),
        (PASSED_ON, "@@weave", {"use.ts renamed"}),
        (PASSED_ON, "@@spare", {"use.ts whole"}),
        (COMMENTED, "@@weave", {"use.ts plain"}),
        (COMMENTED, "@@knit", {"use.ts renamed"}),
        (COMMENTED, "@@sew", {"use.ts own"}),
        (LONG, "@@weave", {"use.ts plain"}),
        (COMMON, "@@mend", {"main.js go"}),
        (COMMON, "@@patch", {"main.js go"}),
        (JAVA, "@@Grade", {"Sieve.java Sieve.a", "Sieve.java Sieve.b"}),
        (JAVA, "@@Grade.MOST", {"Sieve.java Sieve.b"}),
        (RUST, "@@cut", {"lib.rs test"}),
        (RUST, "@@plane", {"lib.rs list"}),
        (RUST, "@@Plank.MOST", {"lib.rs list"}),
        (C, "@@flow", {"pipe.h FLOW_TWICE", "pipe.c full"}),
        (C, "@@SIZE", {"pipe.c full"}),
        (C, "@@drain", set()),
    ],
)
def test_who_uses_it(tmp_path: Path, files: dict[str, str], target: str, expected: set[str]) -> None:
    uses = [edge for edge in edges(tmp_path, files, target).edges if edge.kind in ("called by", "references")]
    exact = {
        f"{edge.path.rpartition('/')[2]} {edge.symbol}" for edge in uses if edge.certainty == "exact" or files is C
    }
    assert {place for place in exact if not place.endswith(" ")} == expected


def test_a_default_import_is_not_what_has_its_name_there(tmp_path: Path) -> None:
    files = {
        "a.ts": "export function parse() {}\nexport default function main() {}\n",
        "b.ts": "import parse from './a'\nexport function go() { parse() }\n",
    }
    assert [edge.path for edge in edges(tmp_path, files, "@@main").edges] == ["b.ts"]
    assert edges(tmp_path, files, "@@parse").edges == ()
