"""C, C++ and Objective-C before the preprocessor: macros where the grammar expects nothing become spaces. Pure.

`NAMESPACE_BEGIN` alone on a line, `class EXPORT_API Name {` or `int size() const LOCKS_EXCLUDED(mutex);` are no C++ for
a parser that does not expand macros: whole classes would be lost. In Objective-C `NS_ENUM(type, Name)` becomes an enum.
Bytes keep their places.
"""

from __future__ import annotations

import re

LANGUAGES = frozenset({"c", "cpp", "objc"})

_ARGUMENTS = rb"(?:[ \t]*\((?:[^()\n]|\((?:[^()\n]|\([^()\n]*\))*\))*\))?"
_NAME = rb"[A-Z][A-Z0-9]*_[A-Z0-9_]*"
_ATTRIBUTE = (
    rb"(?:ALWAYS_INLINE|API|ATTRIBUTE|CONST_INIT|DEPRECATED|DLLEXPORT|DLLIMPORT|EXPORT|EXTERN|FORCE_INLINE|GUARDED_BY"
    rb"|LIFETIME|(?:UN)?LOCKS?(?:_FUNCTION)?|MUST_USE|NODISCARD|NOINLINE|NORETURN|NO_SANITIZE|NO_THREAD_SAFETY|NO_UNIQUE|NULLABILITY"
    rb"|PRINTF|REQUIRED|UNUSED|VISIBILITY|WARN_UNUSED)"
)
# Each form begins with a byte of this set, for a text with a break before its first line: that is searched for three
# times as fast as seven forms are tried at each byte.
_MACRO = re.compile(
    rb"[\n*A-Zcsue](?:"
    # A line of the preprocessor, with those it continues on, stays as it is: the names it defines are wanted.
    rb"(?<=\n)(?:[ \t]*(?:(?P<keep>#(?:[^\n\\]|\\.|\\\r?\n)*)"
    # Alone on a line.
    rb"|(?P<line>" + _NAME + rb"|Q_OBJECT|Q_GADGET)[ \t]*;?[ \t]*\r?$)"
    # Alone on a line of the top level, with arguments, and nothing that it could be the head of.
    rb"|(?P<call>" + _NAME + _ARGUMENTS + rb")[ \t]*\r?$(?!\s*\{))"
    # After a pointer: what may be null.
    rb"|(?<=\*)[ \t]*(?P<pointer>(?:[a-z]+_)?(?:nonnull|nullable|nullability_unknown)\b|_Nonnull\b|_Nullable\b)"
    # Marks of Unreal before a declaration or behind a constant of an enum.
    rb"|(?<=\b[A-Z])(?:(?P<unreal>(?:(?<=U)(?:CLASS|STRUCT|ENUM|INTERFACE|FUNCTION|PROPERTY|META|DELEGATE|PARAM)"
    rb"|(?<=G)ENERATED_(?:UCLASS_|USTRUCT_|UINTERFACE_|IINTERFACE_)?BODY)(?=[ \t]*\()" + _ARGUMENTS + rb"(?:[ \t]*;)?)"
    # Named like an attribute.
    rb"|(?P<attribute>[A-Z0-9]*_(?:[A-Z][A-Z0-9]*_)*"
    + _ATTRIBUTE
    + rb"(?:_[A-Z0-9_]+)?\b"
    + _ARGUMENTS
    + rb"(?![ \t]*[.\[:-])))"
    # Between `class` and the name of a class that is defined here.
    rb"|(?<=\b[csue])(?:(?<=c)lass|(?<=s)truct|(?<=u)nion|(?<=e)num)[ \t]+(?P<kind>" + _NAME + _ARGUMENTS + rb")"
    rb"(?=[ \t]+[A-Za-z_][\w:]*(?:<[^<>{};]*>)?\s*(?:final\s*)?(?:\{|:[^:]))"
    rb")",
    re.MULTILINE,
)
_BEGIN_BEFORE = frozenset({"unreal", "attribute"})  # forms whose first byte is the one of the set


# In a line of the preprocessor: the grammar ends a macro at a comment in it, and takes "/*" for the begin of one.
_COMMENT = re.compile(rb"\"(?:[^\"\\\n]|\\.)*\"|'(?:[^'\\\n]|\\.)*'|//[^\n]*|/\*(?:[^*\n]|\*(?!/))*\*/")


# Macros of the frameworks of Apple, which stand behind or before a declaration.
_APPLE = re.compile(
    rb"\b(?:NS|API|UI|CF|CA|OBJC)_(?:SWIFT_\w+|DESIGNATED_INITIALIZER|(?:CLASS_)?(?:UN)?AVAILABLE\w*|DEPRECATED\w*"
    rb"|REQUIRES_\w+|REFINED_FOR_SWIFT|APPEARANCE_SELECTOR|NOESCAPE|RETURNS_\w+|FORMAT_\w+|ROOT_CLASS)\b" + _ARGUMENTS
)
_APPLE_ENUM = re.compile(
    rb"(?:typedef[ \t]+)?\b(?:NS|CF)_(?:CLOSED_|ERROR_)?(?:ENUM|OPTIONS)\([ \t]*[\w ]+,[ \t]*(?P<name>\w+)[ \t]*\)"
)


def without_macros(data: bytes, language: str = "c") -> bytes:
    """Return the code with such macros blanked, byte for byte and line for line."""
    if language == "objc":
        data = _APPLE.sub(lambda match: b" " * len(match[0]), _APPLE_ENUM.sub(_as_enum, data))
    return _MACRO.sub(_blank, b"\n" + data)[1:]


def _without_comment(match: re.Match[bytes]) -> bytes:
    return b" " * len(match[0]) if match[0].startswith(b"/*") else match[0].replace(b"/*", b"  ")


def _as_enum(match: re.Match[bytes]) -> bytes:
    start = match.start("name") - match.start()
    return (b"enum".ljust(start) + match["name"]).ljust(len(match[0]))


def _blank(match: re.Match[bytes]) -> bytes:
    group = match.lastgroup or "keep"
    text = match[0]
    if group == "keep":
        return _COMMENT.sub(_without_comment, text) if b"/*" in text else text
    start, end = match.start(group) - match.start(), match.end(group) - match.start()
    start -= group in _BEGIN_BEFORE
    return text[:start] + b" " * (end - start) + text[end:]
