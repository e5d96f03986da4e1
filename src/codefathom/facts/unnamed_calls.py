"""Methods that a program calls without their name: constructors by their type, operators by a sign. Pure."""

from __future__ import annotations

import re

_CONSTRUCTORS = {
    "python": frozenset({"__init__", "__new__", "__post_init__"}),
    "ruby": frozenset({"initialize"}),
    "php": frozenset({"__construct"}),
    "swift": frozenset({"init"}),
    "kotlin": frozenset({"constructor"}),
    **dict.fromkeys(("javascript", "jsx", "typescript", "tsx", "vue", "svelte"), frozenset({"constructor"})),
}
# How a constructor of the class around is called from within.
OWN_TYPE = frozenset({"cls", "self", "static", "Self", "self.class"})
_BINARY = {
    "add": "+", "sub": "-", "mul": "*", "truediv": "/", "floordiv": "//", "mod": "%", "pow": "**", "matmul": "@",
    "and": "&", "or": "|", "xor": "^", "lshift": "<<", "rshift": ">>",
}  # fmt: skip
_PYTHON = {f"__{form}{name}__": sign for name, sign in _BINARY.items() for form in ("", "r")}
_PYTHON |= {f"__i{name}__": f"{sign}=" for name, sign in _BINARY.items()}
_PYTHON |= {
    "__eq__": "==", "__ne__": "!=", "__lt__": "<", "__le__": "<=", "__gt__": ">", "__ge__": ">=", "__neg__": "-",
    "__pos__": "+", "__invert__": "~", "__getitem__": "[", "__setitem__": "[", "__delitem__": "[",
    "__contains__": "in", "__iter__": "in", "__len__": "len", "__enter__": "with", "__exit__": "with",
    "__aenter__": "with", "__aexit__": "with", "__await__": "await", "__aiter__": "in", "__call__": "(",
    "__bool__": "if", "__str__": "str", "__repr__": "repr", "__int__": "int", "__float__": "float", "__abs__": "abs",
    "__reversed__": "reversed", "__divmod__": "divmod", "__round__": "round", "__del__": "del",
}  # fmt: skip
_LUA = {
    "__add": "+", "__sub": "-", "__mul": "*", "__div": "/", "__mod": "%", "__pow": "^", "__unm": "-", "__idiv": "//",
    "__concat": "..", "__len": "#", "__eq": "==", "__lt": "<", "__le": "<=", "__index": ".", "__newindex": "=",
    "__call": "(", "__band": "&", "__bor": "|", "__shl": "<<", "__shr": ">>",
}  # fmt: skip
_KOTLIN = {
    "plus": "+", "minus": "-", "times": "*", "div": "/", "rem": "%", "rangeTo": "..", "rangeUntil": "..<",
    "contains": "in", "iterator": "in", "get": "[", "set": "[", "invoke": "(", "compareTo": "<", "equals": "==",
    "not": "!", "inc": "++", "dec": "--", "unaryMinus": "-", "unaryPlus": "+", "plusAssign": "+=",
    "minusAssign": "-=", "timesAssign": "*=", "divAssign": "/=", "getValue": "by", "setValue": "by",
}  # fmt: skip
# Methods of Rust, where their block implements this trait.
_RUST = {
    "add": ("Add", "+"), "sub": ("Sub", "-"), "mul": ("Mul", "*"), "div": ("Div", "/"), "rem": ("Rem", "%"),
    "neg": ("Neg", "-"), "not": ("Not", "!"), "bitand": ("BitAnd", "&"), "bitor": ("BitOr", "|"),
    "bitxor": ("BitXor", "^"), "shl": ("Shl", "<<"), "shr": ("Shr", ">>"), "add_assign": ("AddAssign", "+="),
    "sub_assign": ("SubAssign", "-="), "mul_assign": ("MulAssign", "*="), "div_assign": ("DivAssign", "/="),
    "index": ("Index", "["), "index_mut": ("IndexMut", "["), "deref": ("Deref", "*"), "deref_mut": ("DerefMut", "*"),
    "eq": ("PartialEq", "=="), "ne": ("PartialEq", "!="), "partial_cmp": ("PartialOrd", "<"), "cmp": ("Ord", "<"),
    "next": ("Iterator", "in"), "into_iter": ("IntoIterator", "in"), "fmt": ("Display|Debug", "{"),
}  # fmt: skip
_PHP = {
    "__invoke": "(", "__get": "->", "__set": "->", "__call": "->", "__callStatic": "::", "__toString": '"',
    "offsetGet": "[", "offsetSet": "[", "getIterator": "as", "count": "count",
}  # fmt: skip
_BY_NAME = {"python": _PYTHON, "lua": _LUA, "php": _PHP}
_WRITTEN = re.compile(r"(?:operator\s*)?([^\w\s]+)")
_WITH_SIGNS = frozenset({"c", "cpp", "csharp", "dart", "elixir", "haskell", "ruby", "scala", "swift"})
_SUBSCRIPTS = frozenset({"[]", "[]=", "operator[]", "operator []", "subscript", "this[]"})


def is_constructor(qualified_name: str, language: str) -> bool:
    """Return True for a constructor that has another name than its type."""
    owner, _, name = qualified_name.rpartition(".")
    return bool(owner) and name in _CONSTRUCTORS.get(language, ())


def sign_of(name: str, signature: str, owner_signature: str, language: str) -> str:
    """Return the sign or word by which a method is called, such as `+` or `with`; "" for one that its name calls.

    `owner_signature` is that of what the method stands in, such as `impl Add for Length`.
    """
    if language == "rust":
        trait, sign = _RUST.get(name, ("", ""))
        return sign if trait and re.search(rf"\b(?:{trait})\b.*\bfor\b", owner_signature) else ""
    if language == "kotlin":
        return _KOTLIN.get(name, "") if re.search(r"\boperator\b", signature) else ""
    if language in _BY_NAME:
        return _BY_NAME[language].get(name, "")
    if language not in _WITH_SIGNS:
        return ""
    if name in _SUBSCRIPTS:
        return "["
    written = _WRITTEN.fullmatch(name)
    return written[1].replace("()", "(") if written else ""
