"""The name of an import → paths that its file may have. Pure; knows the customs of each language, not the project.

A candidate that begins with "/" is a path from the project's root. Any other is the end of a path, cut at a "/". One
that ends with "/" means the files directly in that folder. The likelier candidate comes first.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from posixpath import normpath

_SCRIPT_ENDINGS = (".ts", ".tsx", ".d.ts", ".js", ".jsx", ".mjs", ".cjs", ".mts", ".cts", ".vue", ".svelte", ".json")
_COMPILED = {".js": (".ts", ".tsx"), ".jsx": (".tsx",), ".mjs": (".mts",), ".cjs": (".cts",)}

_QUOTES = frozenset("'\"`")
_MOST_GROUPS = 10  # one in another
_MOST_GROUPED = 500  # names of one import


def import_candidates(name: str, language: str, path: str) -> tuple[str, ...]:
    """Return the places an import written in the file `path` may mean; none when the language has no such custom."""
    written = plain_name(name)
    resolve = _BY_LANGUAGE.get(language, _link)
    if not written or resolve is None:
        return ()
    every = (candidate for one in written_out(written) for candidate in resolve(one, path))
    return tuple(dict.fromkeys(candidate for candidate in every if candidate and not _goes_up(candidate)))


def _goes_up(candidate: str) -> bool:
    return ".." in candidate and ".." in candidate.split("/")


def plain_name(name: str) -> str:
    """Return the name of an import without its quotes."""
    if _QUOTES.isdisjoint(name):
        return name.strip()
    return re.sub(r"^\s*(['\"`]?)(.*)\1\s*$", r"\2", name, flags=re.DOTALL).strip()


def has_custom(language: str) -> bool:
    """Return True if imports of a language tell where their files lie."""
    return _BY_LANGUAGE.get(language) is not None


def written_out(name: str) -> list[str]:
    """Return the names that `a.{b, c => d}` or `a::{b, c::{d, e as f}}` is short for."""
    return [full for full, _ in names_of_group(name)]


def names_of_group(name: str) -> list[tuple[str, str]]:
    """Return the names that a name such as `a::{b, c::{d, e as f}}` is short for, each with its alias or ""."""
    if "{" not in name or re.fullmatch(r"[^{}]*\{.*\}", name, re.DOTALL) is None:
        return [(name, "")]
    prefixes, part, names = [""], "", []
    for piece in re.split(r"([{},])", name):
        if piece not in ("{", "}", ","):
            part = piece.strip()
        elif piece == "{":
            prefixes.append(prefixes[-1] + part if len(prefixes) < _MOST_GROUPS else prefixes[-1])
            part = ""
        else:
            names += [_with_alias(prefixes[-1], part)] if part else []
            part = ""
            if piece == "}" and len(prefixes) > 1:
                prefixes.pop()
    return names[:_MOST_GROUPED]


def _with_alias(prefix: str, part: str) -> tuple[str, str]:
    plain, *alias = re.split(r"\s+as\s+|\s*=>\s*", part, maxsplit=1)
    full = prefix + plain.rstrip(":.")
    return full.removesuffix("::self"), "".join(alias)  # `a::{self, b}` is a itself, and its b


def _folder(path: str) -> str:
    return path.rpartition("/")[0]


def _from(folder: str, relative: str) -> str:
    """Return "/" and the path that `relative` means in `folder`; "" when it leaves the project."""
    joined = normpath(f"{folder}/{relative}" if folder else relative)
    return "" if joined == ".." or joined.startswith("../") else "/" if joined == "." else "/" + joined.lstrip("/")


def _link(name: str, path: str) -> Iterator[str]:
    """Yield the path of a link in prose, or of a language without a custom: relative to the file, or from the root."""
    target = re.split(r"[?#]", name)[0]
    if target and "://" not in target and not target.startswith("mailto:"):
        yield _from(_folder(path), target) if not target.startswith("/") else target


def _python(name: str, path: str) -> Iterator[str]:
    dots = len(name) - len(name.lstrip("."))
    parts = [part for part in name.lstrip(".").split(".") if part and part != "*"]
    if dots:
        folder = _from(_folder(path), "/".join(["."] + [".."] * (dots - 1)))
        if not folder:
            return
        yield from python_files(folder.rstrip("/") + "/", parts)
    elif parts:
        yield from python_files("", parts)


def python_files(start: str, parts: list[str]) -> Iterator[str]:
    """Yield a module or package; then the module around it, since `from a import b` may name a definition."""
    for end in range(len(parts), max(len(parts) - 2, 0), -1):
        body = start + "/".join(parts[:end])
        yield from (f"{body}.py", f"{body}/__init__.py", f"{body}.pyi", f"{body}.pyx")
    if start and len(parts) <= 1:
        yield f"{start}__init__.py"


def _javascript(name: str, path: str) -> Iterator[str]:
    target = re.split(r"[?#]", name)[0]
    if target.startswith("."):
        yield from script_files(_from(_folder(path), target))
    elif target.startswith(("@/", "~/", "#/")):
        yield from (*script_files("/src/" + target[2:]), *script_files(target[2:]))
    elif target.startswith("/"):
        yield from script_files(target)
    elif not target.startswith("node:"):
        yield from _package(target)


def _package(target: str) -> Iterator[str]:
    """Yield files of a package in packages/ of the same repository; then of a path with two or more parts."""
    parts = target.split("/")
    own = parts[1:] if target.startswith("@") else parts
    if own:
        root, inside = f"packages/{own[0]}", "/".join(own[1:])
        yield from (*script_files(f"{root}/src/{inside or 'index'}"), *script_files(f"{root}/{inside or 'index'}"))
    if len(parts) > 1 and not target.startswith("@"):
        yield from script_files(target)


def script_files(body: str) -> Iterator[str]:
    """Yield the files that a path without its ending, or the folder of an index, may mean."""
    if not body:
        return
    for ending, sources in _COMPILED.items():
        if body.endswith(ending):
            yield from (body.removesuffix(ending) + source for source in sources)
    if re.search(r"\.\w+$", body):
        yield body
    yield from (body.rstrip("/") + ending for ending in _SCRIPT_ENDINGS)
    yield from (f"{body.rstrip('/')}/index{ending}" for ending in _SCRIPT_ENDINGS)


def _go(name: str, path: str) -> Iterator[str]:
    """Yield the folder of a package. The name of the module, a host and two more parts, is not a folder in the tree."""
    parts = [part for part in name.split("/") if part]
    if name.startswith("."):
        yield _from(_folder(path), name).rstrip("/") + "/"
        return
    if parts and "." in parts[0]:
        folders = parts[3:] if parts[0].count(".") and len(parts) > 2 else parts[1:]
        folders = folders[1:] if folders and re.fullmatch(r"v\d+", folders[0]) else folders
        yield "/" + "".join(part + "/" for part in folders)
        if len(folders) > 1:
            yield "/".join(folders) + "/"
    elif len(parts) > 1:
        # A module without a host, or the standard library, whose folders a project seldom has.
        yield "/" + "/".join(parts[1:]) + "/"


def _dotted(*endings: str) -> Callable[[str, str], Iterator[str]]:
    """Return the custom of Java and its relatives: the file of a class, of the class around it, or the package."""

    def resolve(name: str, path: str) -> Iterator[str]:
        clean = re.sub(r"^\s*(?:import|using|package)\s+(?:static\s+)?|\s+as\s+.*$|;$", "", name)
        parts = [part for part in re.split(r"\.|::", clean) if part.strip()]
        everything = bool(parts) and parts[-1] in ("*", "_", "given")
        parts = parts[:-1] if everything else parts
        for end in range(len(parts), max(len(parts) - 2, 1), -1):
            yield from ("/".join(parts[:end]) + ending for ending in endings)
        if len(parts) > 1 and (everything or not parts[-1][:1].isupper()):
            yield "/".join(parts) + "/"

    return resolve


def _csharp(name: str, path: str) -> Iterator[str]:
    """Yield the folders of a namespace; the name of the project in front of it is often no folder."""
    parts = [part for part in re.split(r"\.|::", name.removeprefix("global::")) if part]
    yield "/".join(parts) + ".cs"
    for start in range(len(parts)):
        if len(parts) - start > 1 or start == 0:
            yield "/".join(parts[start:]) + "/"


def _rust(name: str, path: str) -> Iterator[str]:
    parts = [part for part in re.sub(r"\s+as\s+\w+$", "", name).split("::") if part and part != "*"]
    if not parts:
        return
    root = path[: path.rfind("src/") + 4] if "src/" in path else _folder(path) + "/" * bool(_folder(path))
    children = _rust_children(path)
    if parts[0] == "crate":
        yield from rust_files("/" + root, parts[1:])
    elif parts[0] in ("self", "super"):
        ups = sum(1 for part in parts if part == "super")
        start = _from(children, "/".join([".", *[".."] * ups])).rstrip("/") + "/"
        yield from rust_files(start, [part for part in parts if part not in ("self", "super")])
    elif len(parts) == 1:  # `mod name;`
        yield from (f"/{children}{parts[0]}.rs", f"/{children}{parts[0]}/mod.rs")
    elif parts[0] not in ("std", "core", "alloc"):
        for crate in dict.fromkeys((parts[0], parts[0].replace("_", "-"))):
            yield from rust_files(f"{crate}/src/", parts[1:])
        yield from rust_files("/" + children, parts)


def _rust_children(path: str) -> str:
    """Return the folder in which the modules below this file lie."""
    folder, name = _folder(path), path.rpartition("/")[2]
    inner = "" if name in ("mod.rs", "lib.rs", "main.rs") else name.removesuffix(".rs")
    return "".join(part + "/" for part in (folder, inner) if part)


def rust_files(start: str, parts: list[str]) -> Iterator[str]:
    """Yield the files of the longest beginning of the parts first; the parts after it are names inside that module."""
    for end in range(len(parts), 0, -1):
        body = start + "/".join(parts[:end])
        yield from (f"{body}.rs", f"{body}/mod.rs")
    yield from (f"{start}lib.rs", f"{start}mod.rs", f"{start}main.rs")
    if start.count("/") > 1:
        yield start.rstrip("/") + ".rs"


def _c(name: str, path: str) -> Iterator[str]:
    target = name.strip('<>" ')
    yield _from(_folder(path), target)
    if not target.startswith("."):
        yield target


def _ruby(name: str, path: str) -> Iterator[str]:
    target = name if name.endswith(".rb") else name + ".rb"
    if target.startswith("."):
        yield _from(_folder(path), target)
        return
    yield f"lib/{target}"
    if "/" in target:
        yield target
    yield from (_from(_folder(path), target), f"test/{target}", f"spec/{target}")


def _php(name: str, path: str) -> Iterator[str]:
    """Yield the file of a class under PSR-4: the front of its namespace is some folder, the rest is the path."""
    quoted = re.search(r"['\"]([^'\"]+)['\"]", name)
    target = quoted[1] if quoted else re.sub(r"^\s*use\s+(?:function\s+|const\s+)?|\s+as\s+\w+$", "", name)
    if target.endswith(".php") or "/" in target:
        yield from (_from(_folder(path), target.lstrip("/")), "/" + target.lstrip("/"))
        return
    parts = [part for part in target.split("\\") if part]
    for start in range(max(len(parts) - 1, 0)):
        yield "/".join(parts[start:]) + ".php"


def _lua(name: str, path: str) -> Iterator[str]:
    body = name.removesuffix(".lua").replace(".", "/") if "/" not in name else name.removesuffix(".lua")
    yield from (f"lua/{body}.lua", f"lua/{body}/init.lua", f"/{body}.lua", f"/{body}/init.lua")
    if "/" in body:
        yield from (f"{body}.lua", f"{body}/init.lua")
    yield _from(_folder(path), f"{body}.lua")


def _elixir(name: str, path: str) -> Iterator[str]:
    parts = [re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "_", part).lower() for part in name.split(".") if part]
    yield from (f"lib/{'/'.join(parts)}.ex", f"{'/'.join(parts)}.exs")
    if len(parts) > 1:
        yield f"{'/'.join(parts)}.ex"


def _haskell(name: str, path: str) -> Iterator[str]:
    body = name.replace(".", "/")
    if "/" in body:
        yield from (f"{body}.hs", f"{body}.lhs", f"{body}.hsc")
    else:
        yield from (f"/src/{body}.hs", f"/{body}.hs", _from(_folder(path), f"{body}.hs"))


def _zig(name: str, path: str) -> Iterator[str]:
    if "." in name:
        yield _from(_folder(path), name)
    elif name not in ("std", "builtin", "root"):
        yield from (f"/{name}.zig", f"/src/{name}.zig", f"{name}/src/main.zig", f"{name}/src/root.zig")


def _bash(name: str, path: str) -> Iterator[str]:
    """Yield the end of the path after the last variable: the value of a variable is not known."""
    after = re.split(r"\$\{[^}]*\}|\$\([^)]*\)|\$\w+", name)[-1].strip("\"'")
    is_literal = after == name
    target = after.lstrip("/") if not is_literal else after
    endings = ("", ".bash", ".sh") if "." not in target.rpartition("/")[2] else ("",)
    for ending in endings if target else ():
        if is_literal:
            yield from (_from(_folder(path), target + ending), _from("", target + ending))
        else:
            yield from (_from(_folder(path), target + ending), target + ending)


def _dart(name: str, path: str) -> Iterator[str]:
    """Yield a file of the library; that of a package is `lib` in the folder of the package, or of this project."""
    if name.startswith("package:"):
        package, _, inside = name.removeprefix("package:").partition("/")
        yield from (f"{package}/lib/{inside}", f"lib/{inside}") if inside else ()
    elif ":" not in name:
        yield _from(_folder(path), name)


def _r(name: str, path: str) -> Iterator[str]:
    if "." in name.rpartition("/")[2]:
        yield from (_from(_folder(path), name), _from("", name))


def _perl(name: str, path: str) -> Iterator[str]:
    body = name.replace("::", "/")
    yield f"lib/{body}.pm"
    if "/" in body:
        yield f"{body}.pm"
    yield _from(_folder(path), f"{body}.pm")


def _julia(name: str, path: str) -> Iterator[str]:
    if name.endswith(".jl"):
        yield _from(_folder(path), name)
        return
    module = name.rpartition(".")[2]
    yield from (_from(_folder(path), f"{module}.jl"), f"/src/{module}.jl", f"{module}/src/{module}.jl")


def _ocaml(name: str, path: str) -> Iterator[str]:
    """Yield the file of the innermost module first; a module is named like its file, with a capital."""
    for part in reversed([part for part in name.split(".") if part]):
        for ending in (".ml", ".mli"):
            file_name = part[:1].lower() + part[1:] + ending
            yield from (_from(_folder(path), file_name), f"src/{file_name}", f"lib/{file_name}")


def _solidity(name: str, path: str) -> Iterator[str]:
    if name.startswith("."):
        yield _from(_folder(path), name)
        return
    yield from (_from("", name), name)
    if name.startswith("@") and "/" in name:
        yield name.partition("/")[2]


def _hcl(name: str, path: str) -> Iterator[str]:
    """Yield the folder of a local module; others come from a registry."""
    if name.startswith("."):
        target = _from(_folder(path), name)
        yield target if re.search(r"\.\w+$", target) else target.rstrip("/") + "/" * bool(target)


def _erlang(name: str, path: str) -> Iterator[str]:
    if "." in name:
        yield from (_from(_folder(path), name), f"include/{name}", name)
    else:
        yield from (_from(_folder(path), f"{name}.erl"), f"src/{name}.erl")


def _clojure(name: str, path: str) -> Iterator[str]:
    body = name.replace("-", "_").replace(".", "/")
    yield from (f"{body}{ending}" for ending in (".clj", ".cljc", ".cljs"))
    if "/" in body:
        yield f"{body}.java"


def _powershell(name: str, path: str) -> Iterator[str]:
    """Yield the end of the path after a variable such as $PSScriptRoot; a module lies in a folder of its name."""
    target = re.split(r"\$\{[^}]*\}|\$[\w:]+", name)[-1].replace("\\", "/").lstrip("/" if "$" in name else "")
    if re.search(r"\.ps[md]?1$", target, re.IGNORECASE):
        yield _from(_folder(path), target)
    elif target and "/" not in target:
        yield from (f"{target}/{target}.psm1", f"{target}.psm1", f"{target}/{target}.psd1")


def _fortran(name: str, path: str) -> Iterator[str]:
    if "." in name:
        yield from (_from(_folder(path), name), f"include/{name}")
        return
    for ending in (".f90", ".F90", ".f95", ".f03", ".f08", ".f"):
        yield from (_from(_folder(path), name.lower() + ending), f"src/{name.lower()}{ending}")


def _cobol(name: str, path: str) -> Iterator[str]:
    """Yield the copybook of a name, which compilers look for in any case and with several endings."""
    if "." in name.rpartition("/")[2]:
        yield from (_from(_folder(path), name), name)
        return
    for written in dict.fromkeys((name, name.upper(), name.lower())):
        for ending in (".cpy", ".CPY", ".cbl", ".cob", ".CBL", ".COB", ""):
            yield f"{written}{ending}"


_BY_LANGUAGE: dict[str, Callable[[str, str], Iterator[str]] | None] = {
    "python": _python,
    "javascript": _javascript,
    "typescript": _javascript,
    "tsx": _javascript,
    "vue": _javascript,
    "svelte": _javascript,
    "go": _go,
    "rust": _rust,
    "java": _dotted(".java", ".kt"),
    "kotlin": _dotted(".kt", ".java"),
    "scala": _dotted(".scala", ".java"),
    "groovy": _dotted(".groovy", ".java"),
    "csharp": _csharp,
    "c": _c,
    "cpp": _c,
    "cobol": _cobol,
    "ruby": _ruby,
    "php": _php,
    "lua": _lua,
    "elixir": _elixir,
    "haskell": _haskell,
    "zig": _zig,
    "bash": _bash,
    "objc": _c,
    "dart": _dart,
    "r": _r,
    "perl": _perl,
    "julia": _julia,
    "ocaml": _ocaml,
    "solidity": _solidity,
    "hcl": _hcl,
    "erlang": _erlang,
    "clojure": _clojure,
    "powershell": _powershell,
    "fortran": _fortran,
    "sql": None,
    "swift": None,  # files of one module see one another without imports
}
