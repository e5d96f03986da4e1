"""Heads of definitions: for each language one plain pattern of the lines with which definitions begin. Pure.

A pattern is matched at the beginning of a line. The name of a group is the kind of the symbol that the group names,
with a number where one kind has several forms; `owner` is what a name belongs to when it is written before it. Patterns
are texts: only a parser compiles them. They are narrow on purpose: a false head costs more than one that is missed, as
most definitions are found by a grammar. What they repeat is bounded, so that no line takes long.
"""

from __future__ import annotations


def _words(words: str) -> str:
    """Return the pattern of any number of these words, each with a space behind it."""
    return rf"(?:(?:{'|'.join(words.split())})[ \t]+)*"


def _some(words: str) -> str:
    """Return the same with one word at least."""
    return _words(words)[:-1] + "+"


def _none_of(words: str) -> str:
    """Return the pattern of one of these words, for what must not follow."""
    return rf"(?:{'|'.join(words.split())})\b"


def _any_of(*forms: str) -> str:
    return rf"(?:{'|'.join(forms)})"


_START = r"(?:^|[{;])[ \t]*"
_ANNOTATIONS = r"(?:@[\w.:]+(?:\([^()\n]{0,200}\))?[ \t]+)*"
_TYPE = r"[\w.:]+(?:<[^\n();=]{0,200}>)?(?:[ \t]*\[[ \t,]*\])*\??"  # such as `Map<String, int[]>[]`
_TYPE_NAME = r"[A-Za-z_]\w*"

KOTLIN = (
    _START
    + _ANNOTATIONS
    + _words(
        "public private protected internal abstract final open override inline tailrec suspend external operator infix "
        "expect actual data sealed inner annotation value"
    )
    + _any_of(
        r"enum[ \t]+class[ \t]+(?P<enum>\w+)",
        r"(?:fun[ \t]+)?interface[ \t]+(?P<interface>\w+)",
        r"fun[ \t]+(?:<[^\n()]{0,200}>[ \t]*)?(?:(?P<owner>\w+)(?:<[^\n()]{0,200}>)?\??\.)?"
        r"(?P<function>\w+|`[^`\n]+`)[ \t]*\(",
        r"(?:companion[ \t]+)?object[ \t]+(?P<class1>\w+)",
        r"class[ \t]+(?P<class2>\w+)",
        r"typealias[ \t]+(?P<type>\w+)",
    )
)
_JAVA_WORDS = "public private protected static final abstract synchronized native default strictfp sealed non-sealed"
JAVA = (
    _START
    + _ANNOTATIONS
    + _any_of(
        _words(_JAVA_WORDS)
        + _any_of(
            rf"class[ \t]+(?P<class>{_TYPE_NAME})(?=[ \t\n<{{])",
            rf"@?interface[ \t]+(?P<interface>{_TYPE_NAME})(?=[ \t\n<{{])",
            rf"enum[ \t]+(?P<enum>{_TYPE_NAME})(?=[ \t\n{{])",
            rf"record[ \t]+(?P<struct>{_TYPE_NAME})(?=[ \t]*[(<])",
        ),
        _some(_JAVA_WORDS)
        + rf"(?!{_none_of(_JAVA_WORDS)})(?:<[^\n()]{{0,200}}>[ \t]+)?{_TYPE}[ \t]+(?P<method1>{_TYPE_NAME})[ \t]*\(",
        rf"void[ \t]+(?P<method2>{_TYPE_NAME})[ \t]*\([^;\n]{{0,200}}\{{[ \t]*$",
    )
)
_CSHARP_WORDS = (
    "public private protected internal static sealed abstract partial async virtual override readonly extern unsafe "
    "new file required ref"
)
CSHARP = _START + _any_of(
    _words(_CSHARP_WORDS)
    + _any_of(
        rf"class[ \t]+(?P<class>{_TYPE_NAME})",
        rf"interface[ \t]+(?P<interface>{_TYPE_NAME})",
        rf"(?:struct|record[ \t]+struct)[ \t]+(?P<struct>{_TYPE_NAME})",
        rf"record[ \t]+(?:class[ \t]+)?(?P<class2>{_TYPE_NAME})[ \t]*[(:{{\n;<]",
        rf"enum[ \t]+(?P<enum>{_TYPE_NAME})",
    ),
    _some(_CSHARP_WORDS) + rf"(?!{_none_of(_CSHARP_WORDS + ' class record event delegate')}){_TYPE}[ \t]+"
    rf"(?P<method>{_TYPE_NAME})[ \t]*(?:<[^\n()]{{0,200}}>)?\(",
)
_C_WORDS = (
    r"(?!(?:return|else|if|for|while|switch|case|do|goto|typedef|new|delete|throw|using|template|sizeof|defined|"
    r"namespace)\b)"
)
_C_BODY = r"[ \t]*\([^;{}]{0,400}\)[ \t]*\n?\{"
_C_FORMS = (
    rf"^{_C_WORDS}[A-Za-z_][\w \t*]*[ \t*](?!__|_*[A-Z][A-Z\d_]*\b)(?P<function>[A-Za-z_]\w*){_C_BODY}",
    rf"^[ \t]*(?:typedef[ \t]+)?(?:struct|union)[ \t]+(?P<struct>{_TYPE_NAME})[ \t]*(?:\n[ \t]*)?\{{",
    r"^[ \t]*#[ \t]*define[ \t]+(?P<macro>[A-Za-z_][\w$]*)",
)
C = _any_of(*_C_FORMS, rf"^[ \t]*(?:typedef[ \t]+)?enum[ \t]+(?P<enum>{_TYPE_NAME})[ \t]*(?:\n[ \t]*)?\{{")
_CPP_TAIL = r"[ \t]*(?:final[ \t]*)?(?::[^:;{}][^;{}]{0,300})?(?:\n[ \t]*)?\{"
CPP = _any_of(
    *_C_FORMS,
    rf"^[ \t]*(?:typedef[ \t]+)?enum[ \t]+(?:class[ \t]+|struct[ \t]+)?(?P<enum>{_TYPE_NAME}){_CPP_TAIL}",
    rf"^[ \t]*class[ \t]+(?:[A-Z][A-Z0-9_]*[ \t]+)?(?P<class>{_TYPE_NAME}){_CPP_TAIL}",
    rf"^[ \t]*struct[ \t]+(?:[A-Z][A-Z0-9_]*[ \t]+)?(?P<struct2>{_TYPE_NAME}){_CPP_TAIL}",
    rf"^{_C_WORDS}(?:[\w:<>,]+[ \t*&]+)+(?P<owner>{_TYPE_NAME})::(?P<method>~?(?!operator\b)[A-Za-z_]\w*)"
    r"[ \t]*\([^;{}]{0,400}\)[ \t]*(?:const[ \t]*)?(?:noexcept[ \t]*)?\n?\{",
    # Macros before the type and behind the parameters.
    rf"^{_C_WORDS}(?![^\n(]{{0,200}}\boperator\b)(?:[\w:<>,]+[ \t*&]+)+"
    rf"(?!__|_*[A-Z][A-Z\d_]*\b)(?P<function2>{_TYPE_NAME})"
    r"[ \t]*\([^;{}]{0,400}\)[ \t]*(?:(?:const|noexcept|[A-Z][A-Z\d_]+)[ \t]*){1,5}\n?\{",
)
_SCRIPT_FORMS = (
    r"(?:async[ \t]+)?function(?:[ \t]*\*[ \t]*|[ \t]+)(?P<function>[\w$]+)(?=[ \t]*[(<])",
    r"(?:abstract[ \t]+)?class[ \t]+(?P<class>[\w$]+)(?=[ \t\n<{])",
)
_EXPORT = r"(?:export[ \t]+)?(?:default[ \t]+)?"
JAVASCRIPT = _START + _EXPORT + _any_of(*_SCRIPT_FORMS)
TYPESCRIPT = (
    _START
    + _EXPORT
    + r"(?:declare[ \t]+)?"
    + _any_of(
        *_SCRIPT_FORMS,
        r"interface[ \t]+(?P<interface>[\w$]+)(?=[ \t\n<{])",
        r"(?:const[ \t]+)?enum[ \t]+(?P<enum>[\w$]+)(?=[ \t\n{])",
        r"type[ \t]+(?P<type>[\w$]+)[ \t]*(?:<[^\n=]{0,200}>)?[ \t]*=",
    )
)
GO = r"^" + _any_of(
    r"func[ \t]+(?P<function>\w+)[\[(]",
    r"func[ \t]+\((?:\w+[ \t]+)?\*?(?P<owner>\w+)(?:\[[^\n\]]*\])?\)[ \t]*(?P<method>\w+)[\[(]",
    r"type[ \t]+(?P<struct>\w+)(?:\[[^\n\]]*\])?[ \t]+struct\b",
    r"type[ \t]+(?P<interface>\w+)(?:\[[^\n\]]*\])?[ \t]+interface\b",
)
RUST = (
    _START
    + r"(?:pub(?:\([^()\n]{0,200}\))?[ \t]+)?"
    + _any_of(
        r"(?:(?:default|const|async|unsafe|extern(?:[ \t]+\"[^\"\n]{0,200}\")?)[ \t]+)*"
        r"fn[ \t]+(?P<function>\w+)(?=[ \t]*[(<])",
        r"struct[ \t]+(?P<struct>\w+)",
        r"enum[ \t]+(?P<enum>\w+)",
        r"(?:unsafe[ \t]+)?trait[ \t]+(?P<trait>\w+)",
        r"mod[ \t]+(?P<module>\w+)[ \t]*\{",
        r"macro_rules![ \t]*(?P<macro>\w+)",
    )
)
PYTHON = _START + _any_of(
    r"(?:async[ \t]+)?def[ \t]+(?P<function>\w+)[ \t]*[(\[]", r"class[ \t]+(?P<class>\w+)[ \t]*[(:\[]"
)
RUBY = _START + _any_of(
    r"(?:(?:private|protected|public|module_function|private_class_method)[ \t]+)?def[ \t]+(?:self\.)?"
    r"(?P<method>[A-Za-z_]\w*[?!=]?)(?=[ \t(;\n])",
    r"class[ \t]+(?:[\w:]*::)?(?P<class>[A-Z]\w*)",
    r"module[ \t]+(?:[\w:]*::)?(?P<module>[A-Z]\w*)",
)
PHP = (
    _START
    + _words("abstract final public protected private static readonly")
    + _any_of(
        r"function[ \t]+(?:&[ \t]*)?(?P<function>\w+)[ \t]*\(",
        r"class[ \t]+(?P<class>\w+)(?=[ \t\n{])",
        r"interface[ \t]+(?P<interface>\w+)(?=[ \t\n{])",
        r"trait[ \t]+(?P<trait>\w+)(?=[ \t\n{])",
        r"enum[ \t]+(?P<enum>\w+)(?=[ \t\n{:])",
    )
)
SCALA = (
    _START
    + _ANNOTATIONS
    + _words(
        "private protected override final sealed abstract implicit lazy inline case open transparent opaque infix"
        r" private\[\w+\] protected\[\w+\]"
    )
    + _any_of(
        r"def[ \t]+(?P<function>[A-Za-z_]\w*)[ \t]*[(\[:=]",
        r"class[ \t]+(?P<class>\w+)",
        r"object[ \t]+(?P<class2>\w+)",
        r"trait[ \t]+(?P<trait>\w+)",
        r"enum[ \t]+(?P<enum>\w+)",
    )
)
SWIFT = (
    _START
    + r"(?:@\w+(?:\([^()\n]{0,200}\))?[ \t]+)*"
    + _words(
        r"public private internal fileprivate open package static final override mutating nonmutating indirect "
        r"nonisolated private\(set\) class(?=\s+func) distributed"
    )
    + _any_of(
        r"func[ \t]+(?P<function>[A-Za-z_]\w*)(?=[ \t]*[(<])",
        r"class[ \t]+(?P<class>\w+)[ \t]*[:{<]",
        r"actor[ \t]+(?P<class2>\w+)[ \t]*[:{<]",
        r"struct[ \t]+(?P<struct>\w+)[ \t]*[:{<]",
        r"enum[ \t]+(?P<enum>\w+)[ \t]*[:{<]",
        r"protocol[ \t]+(?P<interface>\w+)[ \t]*[:{<\n]",
    )
)
BASH = _START + _any_of(
    r"(?:function[ \t]+)?(?P<function>[A-Za-z_][\w:.-]*)[ \t]*\([ \t]*\)[ \t]*(?:\{|\(|\n|$)",
    r"function[ \t]+(?P<function2>[A-Za-z_][\w:.-]*)[ \t]*(?:\{|\n)",
)
FISH = _START + r"function[ \t]+(?P<function>[\w.-]+)"
PERL = _START + _any_of(
    r"sub[ \t]+(?:(?P<owner>\w+(?:::\w+)*)(?:::|'))?(?P<function>\w+)(?![\w:'])(?![^\n{]{0,200};)",
    r"package[ \t]+(?P<module>\w+(?:::\w+)*)[ \t]*(?:[;{]|v?\d)",
)
LUA = _START + _any_of(
    r"(?:local[ \t]+)?function[ \t]+(?:(?P<owner>[\w.]+)[.:])?(?P<function>\w+)[ \t]*\(",
)
ELIXIR = _START + _any_of(
    r"defp?[ \t]+(?P<function>[a-z_]\w*[?!]?)(?=[ \t]*(?:[(,\n]|do\b|when\b))",
    r"defmacrop?[ \t]+(?P<macro>[a-z_]\w*[?!]?)(?=[ \t]*(?:[(,\n]|do\b|when\b))",
    r"defmodule[ \t]+(?P<module>[A-Z][\w.]*)",
)
ERLANG = r"^(?P<function>[a-z]\w*)\([^()\n]{0,200}\)[ \t]*(?:when\b[^\n>]{0,200})?->"
HASKELL = r"^" + _any_of(
    r"(?P<function>[a-z_][\w']*)[ \t]+::[ \t\n]",
    r"(?:data|newtype)[ \t]+(?!instance\b|family\b)(?:\([^()\n]{0,200}\)[ \t]*=>[ \t]*)?(?P<type>[A-Z][\w']*)",
)
GROOVY = (
    _START
    + _ANNOTATIONS
    + _words("public private protected static final abstract synchronized")
    + _any_of(
        r"class[ \t]+(?P<class>\w+)",
        r"interface[ \t]+(?P<interface>\w+)",
        r"trait[ \t]+(?P<trait>\w+)",
        r"enum[ \t]+(?P<enum>\w+)(?=[ \t\n{])",
        r"(?:def|void)[ \t]+(?P<function>\w+|\"[^\"\n]+\"|'[^'\n]+')[ \t]*\([^;\n]{0,200}\{[ \t]*$",
    )
)
DART = (
    _START
    + _words("abstract base final sealed interface mixin")
    + _any_of(
        r"class[ \t]+(?P<class>\w+)", r"mixin[ \t]+(?P<class2>\w+)(?=[ \t\n{])", r"enum[ \t]+(?P<enum>\w+)(?=[ \t\n{])"
    )
)
JULIA = _START + _any_of(
    r"function[ \t]+(?:[\w.]+\.)?(?P<function>\w+!?)[ \t]*[({]",
    r"macro[ \t]+(?P<macro>\w+)[ \t]*\(",
    r"(?:mutable[ \t]+)?struct[ \t]+(?P<struct>\w+)",
    r"abstract[ \t]+type[ \t]+(?P<type>\w+)",
    r"(?:bare)?module[ \t]+(?P<module>\w+)",
)
R = r"^[ \t]*(?P<function>[A-Za-z.][\w.]*)[ \t]*(?:<-|=)[ \t]*function[ \t]*\("
POWERSHELL = r"(?i)^[ \t]*" + _any_of(
    r"(?:function|filter)[ \t]+(?:(?:global|script|local|private):)?(?P<function>[\w-]+)[ \t]*(?:\(|\{|\n|$)",
    r"class[ \t]+(?P<class>\w+)[ \t]*[:{\n]",
    r"enum[ \t]+(?P<enum>\w+)[ \t]*[:{\n]",
)
OBJC = _any_of(
    r"^@(?:interface|implementation)[ \t]+(?P<class>\w+)",
    r"^@protocol[ \t]+(?P<interface>\w+)[ \t]*(?:<|\n|$)",
    *_C_FORMS,
)
FORTRAN = r"(?i)^[ \t]*(?!end\b)" + _any_of(
    r"(?:(?:pure|elemental|recursive|impure|module)[ \t]+)*subroutine[ \t]+(?P<function>\w+)",
    r"(?:[a-z]\w*(?:\([^()\n]{0,200}\))?[ \t]+)*function[ \t]+(?P<function2>\w+)[ \t]*\(",
    r"module[ \t]+(?!procedure\b|subroutine\b|function\b)(?P<module>\w+)[ \t]*$",
    r"program[ \t]+(?P<module2>\w+)[ \t]*$",
)
CLOJURE = r"^\(" + _any_of(
    r"defn-?[ \t]+(?:\^\S+[ \t]+)*(?P<function>[^\s()\[\]{}\"]+)",
    r"defmacro[ \t]+(?P<macro>[^\s()\[\]{}\"]+)",
    r"defprotocol[ \t]+(?P<interface>[^\s()\[\]{}\"]+)",
    r"(?:defrecord|deftype)[ \t]+(?P<struct>[^\s()\[\]{}\"]+)",
)
SOLIDITY = _START + _any_of(
    r"function[ \t]+(?P<function>\w+)[ \t]*\(",
    r"(?:abstract[ \t]+)?contract[ \t]+(?P<class>\w+)(?=[ \t\n{])",
    r"library[ \t]+(?P<class2>\w+)(?=[ \t\n{])",
    r"interface[ \t]+(?P<interface>\w+)(?=[ \t\n{])",
    r"modifier[ \t]+(?P<function2>\w+)[ \t\n({]",
)
ZIG = (
    _START
    + r"(?:(?:pub|export|inline|noinline|extern(?:[ \t]+\"[^\"\n]{0,200}\")?)[ \t]+)*fn[ \t]+(?P<function>\w+)[ \t]*\("
)

_SQL_PARTS = r"(?:[\"`\[]?(?P<owner{0}>\w+)[\"`\]]?\.)?(?P<{1}{0}>\w+|\"[^\"\n]+\"|`[^`\n]+`|\[[^\]\n]+\])(?![\w.])"


def _sql(kind: str, number: int, words: str) -> str:
    return words + r"[ \t\n]+(?:IF[ \t]+NOT[ \t]+EXISTS[ \t]+)?" + _SQL_PARTS.format(number, kind)


SQL = (
    r"(?i)^[ \t]*(?:CREATE(?:[ \t\n]+OR[ \t]+(?:REPLACE|ALTER))?(?:[ \t]+(?:NON)?EDITIONABLE)?[ \t\n]+"
    r"|ALTER[ \t]+(?=PROC))"
    + _any_of(
        _sql("function", 1, r"(?:FUNCTION|PROC(?:EDURE)?|AGGREGATE)"),
        _sql("function", 2, r"(?:CONSTRAINT[ \t]+)?TRIGGER"),
        _sql("module", 3, r"PACKAGE(?:[ \t]+BODY)?"),
        _sql("struct", 4, r"(?:(?:GLOBAL|LOCAL)[ \t]+)?(?:TEMP(?:ORARY)?[ \t]+|UNLOGGED[ \t]+)?TABLE"),
        _sql("struct", 5, r"(?:MATERIALIZED[ \t]+)?VIEW"),
        _sql("type", 6, r"(?:TYPE(?:[ \t]+BODY)?|DOMAIN)"),
    )
    # Members of a package of PL/SQL.
    + r"|^[ \t]+(?:PROCEDURE|FUNCTION)[ \t]+(?P<function7>\w+)(?![\w.])"
)

MAKE = r"^" + _any_of(
    r"(?P<function>[A-Za-z0-9][\w./-]*)[ \t]*::?(?![=:])(?![^\n]{0,200}:=)",
    r"define[ \t]+(?P<macro>[\w.-]+)",
)
DOCKERFILE = r"(?i)^FROM[ \t]+(?:--\S+[ \t]+)*\S+[ \t]+AS[ \t]+(?P<module>[\w.-]+)"
_COBOL_AREA = r"(?:[\d \t]{6}[ \t]|[ \t]{0,7})"  # numbers of lines stand in the first six columns
COBOL = r"(?i)" + _any_of(
    rf"^{_COBOL_AREA}[ \t]*"
    + _any_of(
        r"PROGRAM-ID\.?[ \t\n]+[\"']?(?P<module>[A-Z0-9][\w-]*)",
        r"(?P<module2>[A-Z0-9][\w-]*)[ \t]+SECTION[ \t]*\.",
        r"FD[ \t]+(?P<struct>[A-Z0-9][\w-]*)",
        r"01[ \t]+(?!FILLER\b)(?P<struct2>[A-Z][\w-]*)",
    ),
    r"^(?:[\d \t]{6}[ \t]|[ \t]{7})(?!(?:END|EXIT|STOP|GOBACK|CONTINUE|ELSE|END-[A-Z]+)\b)"
    r"(?P<function>[A-Z0-9][\w-]*)\.[ \t]*$",
)
_NIX_OPTION = r"[ \t]*=[ \t]*(?:lib\.)?mk(?:Option|EnableOption|PackageOption)\b"
NIX = _START + _any_of(
    rf"(?:options\.)?(?P<owner>[A-Za-z_][\w'.\"-]*)\.(?P<variable>[A-Za-z_][\w'-]*){_NIX_OPTION}",
    rf"(?P<variable2>[A-Za-z_][\w'-]*){_NIX_OPTION}",
    r"(?P<function>[A-Za-z_][\w'-]*)[ \t]*=[ \t\n]*(?:\{[^{}=;]{0,400}\}|[a-z_][\w'-]*)[ \t]*(?:@[ \t]*\w+[ \t]*)?"
    r":(?=[ \t\n])",
    r"(?P<variable3>[A-Za-z_][\w'.-]*)[ \t]*=[ \t]*(?:rec[ \t]*)?\{[ \t]*$",
    r"(?P<variable4>[A-Za-z_][\w'-]*)[ \t]*=[ \t]*[\w.]*"
    r"(?:mkDerivation|build\w+Package|buildGoModule|writeShellScriptBin|callPackage)\b",
)
TCL = _START + _any_of(
    r"(?:proc|method)[ \t]+(?:::)?(?:(?P<owner>\w+(?:::\w+)*)::)?(?P<function>[\w?!.-]+(?::[\w?!.-]+)*)[ \t]+[{\w]",
    r"oo::class[ \t]+create[ \t]+(?:::)?(?:\w+::)*(?P<class>\w+)",
    r"namespace[ \t]+eval[ \t]+(?:::)?(?P<module>\w+(?:::\w+)*)[ \t]*\{",
)
AWK = r"^function[ \t]+(?P<function>\w+)[ \t]*\("
VIM = r"^[ \t]*fu(?:nction|n|nc)?!?[ \t]+(?:[sgl]:|<SID>)?(?P<function>[\w#.:]+)[ \t]*\("
CMAKE = r"(?i)^[ \t]*" + _any_of(r"function[ \t]*\([ \t]*(?P<function>\w+)", r"macro[ \t]*\([ \t]*(?P<macro>\w+)")
JUST = r"^@?(?P<function>[A-Za-z_][\w-]*)(?:[ \t][^:\n=]{0,200})?:(?!=)"
BATCH = r"^:(?P<function>[A-Za-z_][\w-]*)[ \t]*$"
PASCAL = r"(?i)^[ \t]*" + _any_of(
    r"(?:class[ \t]+)?(?:procedure|function|constructor|destructor)[ \t]+(?:(?P<owner>\w+)\.)?"
    r"(?P<function>\w+)[ \t]*[(;:]",
    r"(?P<class>\w+)[ \t]*=[ \t]*(?:packed[ \t]+)?(?:class|object)\b(?![ \t]*;|[ \t]+of\b)",
    r"(?P<interface>\w+)[ \t]*=[ \t]*interface\b",
    r"(?P<struct>\w+)[ \t]*=[ \t]*(?:packed[ \t]+)?record\b",
    r"(?:unit|program|library)[ \t]+(?P<module>\w+)[ \t]*;",
)
ADA = r"(?i)^[ \t]*" + _any_of(
    r"(?:overriding[ \t]+)?(?:procedure|function)[ \t]+(?P<function>\w+)",
    r"package[ \t]+(?:body[ \t]+)?(?P<module>\w+(?:\.\w+)*)[ \t]+is",
    r"type[ \t]+(?P<type>\w+)",
)
NIM = _START + _any_of(
    r"(?:proc|func|method|iterator|converter)[ \t]+(?P<function>\w+|`[^`\n]+`)\*?[ \t]*[(\[:=]",
    r"(?:template|macro)[ \t]+(?P<macro>\w+|`[^`\n]+`)\*?[ \t]*[(\[:=]",
    r"(?P<class>[A-Z]\w*)\*?[ \t]*(?:\[[^\n\]]*\])?[ \t]*(?:\{\.[^\n}]{0,200}\.?\})?[ \t]*=[ \t]*"
    r"(?:ref[ \t]+)?object\b",
    r"(?P<enum>[A-Z]\w*)\*?[ \t]*(?:\{\.[^\n}]{0,200}\.?\})?[ \t]*=[ \t]*enum\b",
)
CRYSTAL = (
    RUBY.replace(r"def[ \t]+", r"(?:abstract[ \t]+)?def[ \t]+")
    + r"|^[ \t]*"
    + _any_of(r"struct[ \t]+(?P<struct>[A-Z]\w*)", r"enum[ \t]+(?P<enum>[A-Z]\w*)", r"macro[ \t]+(?P<macro>\w+)")
)
ELM = r"^" + _any_of(
    r"(?P<function>[a-z]\w*)[ \t]*:[ \t\n]",
    r"type[ \t]+alias[ \t]+(?P<type>[A-Z]\w*)",
    r"type[ \t]+(?!alias\b)(?P<type2>[A-Z]\w*)",
    r"port[ \t]+(?!module\b)(?P<function2>[a-z]\w*)[ \t]*:",
)
FSHARP = _START + _any_of(
    r"(?<![ \t])let[ \t]+(?:(?:rec|inline|private|internal)[ \t]+)*(?P<function>[A-Za-z_]\w*)[ \t]+[^=\n]{0,200}=",
    r"(?:(?:static|abstract|default)[ \t]+)*(?:member|override)[ \t]+(?:(?:inline|private)[ \t]+)*"
    r"(?:\w+\.)?(?P<method>[A-Za-z_]\w*)",
    r"(?:type|and)[ \t]+(?:private[ \t]+|internal[ \t]+)?(?P<type>[A-Z]\w*)[^\n]{0,200}=",
    r"module[ \t]+(?:rec[ \t]+|private[ \t]+|internal[ \t]+)*(?P<module>[A-Z][\w.]*)[ \t]*(?:=|$)",
)
LISP = r"^\(" + _any_of(
    r"(?:cl-)?defun\*?[ \t]+(?P<function>[^\s()\"]+)",
    r"def(?:generic|method|subst|advice)[ \t]+(?P<function2>[^\s()\"]+)",
    r"(?:cl-)?defmacro[ \t]+(?P<macro>[^\s()\"]+)",
    r"(?:cl-)?def(?:class|struct)[ \t]+\(?(?P<class>[^\s()\"]+)",
    r"def(?:var|custom|parameter)[ \t]+(?P<variable>[^\s()\"]+)",
    r"defconst(?:ant)?[ \t]+(?P<constant>[^\s()\"]+)",
    r"defpackage[ \t]+[:#]*(?P<module>[^\s()\"]+)",
)
SCHEME = r"^\(" + _any_of(
    r"define(?:\*|/contract)?[ \t]+\(+(?P<function>[^\s()\[\]\"]+)",
    r"define[ \t]+(?P<variable>[^\s()\[\]\"]+)",
    r"define-syntax(?:-rule)?[ \t]+\(?(?P<macro>[^\s()\[\]\"]+)",
    r"(?:define-record-type|struct|define-struct)[ \t]+\(?(?P<struct>[^\s()\[\]\"]+)",
)
PROTO = _START + _any_of(
    r"message[ \t]+(?P<struct>\w+)[ \t]*\{",
    r"enum[ \t]+(?P<enum>\w+)[ \t]*\{",
    r"service[ \t]+(?P<interface>\w+)[ \t]*\{",
    r"rpc[ \t]+(?P<method>\w+)[ \t]*\(",
)
THRIFT = _START + _any_of(
    r"(?:struct|union|exception)[ \t]+(?P<struct>\w+)[ \t]*\{?[ \t]*$",
    r"enum[ \t]+(?P<enum>\w+)[ \t]*\{?[ \t]*$",
    r"service[ \t]+(?P<interface>\w+)(?:[ \t]+extends[ \t]+[\w.]+)?[ \t]*\{?[ \t]*$",
    r"typedef[ \t]+[\w<>, .]+[ \t]+(?P<type>\w+)[ \t]*$",
)
GRAPHQL = r"^" + _any_of(
    r"type[ \t]+(?P<struct>\w+)",
    r"input[ \t]+(?P<struct2>\w+)",
    r"interface[ \t]+(?P<interface>\w+)",
    r"enum[ \t]+(?P<enum>\w+)",
    r"(?:union|scalar)[ \t]+(?P<type>\w+)",
    r"(?:query|mutation|subscription|fragment)[ \t]+(?P<function>\w+)",
)
BASIC = (
    r"(?i)^[ \t]*"
    + _words("public private protected friend shared overridable overrides static partial async")
    + _any_of(
        r"(?:sub|function)[ \t]+(?P<function>\w+)",
        r"property[ \t]+(?:get[ \t]+|let[ \t]+|set[ \t]+)?(?P<method>\w+)[ \t]*\(",
        r"class[ \t]+(?P<class>\w+)[ \t]*$",
        r"module[ \t]+(?P<module>\w+)[ \t]*$",
        r"structure[ \t]+(?P<struct>\w+)[ \t]*$",
        r"interface[ \t]+(?P<interface>\w+)[ \t]*$",
        r"enum[ \t]+(?P<enum>\w+)[ \t]*$",
    )
)
VERILOG = _START + _any_of(
    r"(?:module|macromodule)[ \t]+(?P<module>\w+)[ \t]*[#(;\n]",
    r"interface[ \t]+(?P<interface>\w+)[ \t]*[#(;\n]",
    r"package[ \t]+(?P<module2>\w+)[ \t]*;",
    r"(?:virtual[ \t]+)?class[ \t]+(?P<class>\w+)",
    r"task[ \t]+(?:automatic[ \t]+|static[ \t]+)?(?P<function>\w+)[ \t]*[(;]",
    r"function[ \t]+(?:automatic[ \t]+|static[ \t]+)?(?:[\w:\[\] \t-]{1,200}[ \t])?(?P<function2>\w+)[ \t]*[(;]",
)
VHDL = r"(?i)^[ \t]*" + _any_of(
    r"entity[ \t]+(?P<class>\w+)[ \t]+is",
    r"architecture[ \t]+(?P<class2>\w+)[ \t]+of",
    r"package[ \t]+(?:body[ \t]+)?(?P<module>\w+)[ \t]+is",
    r"(?:pure[ \t]+|impure[ \t]+)?(?:function|procedure)[ \t]+(?P<function>\w+)",
)
MATLAB = _START + _any_of(
    r"function[ \t]+(?:[^=\n(]{0,200}=[ \t]*)?(?:\w+\.)*(?P<function>\w+)[ \t]*(?:\(|$|%)",
    r"classdef[ \t]+(?:\([^)\n]{0,200}\)[ \t]*)?(?P<class>\w+)",
)
D = (
    _START
    + _words("public private protected package export static final abstract override pure nothrow")
    + _any_of(
        r"class[ \t]+(?P<class>\w+)[ \t]*[:{(\n]",
        r"struct[ \t]+(?P<struct>\w+)[ \t]*[{(\n]",
        r"interface[ \t]+(?P<interface>\w+)[ \t]*[:{(\n]",
        r"enum[ \t]+(?P<enum>\w+)[ \t]*[:{\n]",
        r"(?:auto|void|int|bool|string|size_t|ref[ \t]+\w+)[ \t]+(?P<function>\w+)[ \t]*\([^;\n]{0,200}(?:\{|\n)",
    )
)
COFFEESCRIPT = _START + _any_of(
    r"class[ \t]+(?:@|\w+\.)*(?P<class>\w+)",
    r"(?:@|\w+\.)?(?P<function>[A-Za-z_$]\w*)[ \t]*[=:][ \t]*(?:\([^)\n]{0,200}\)[ \t]*)?[-=]>",
)
SHADER = r"^" + _any_of(
    r"(?!(?:return|else|if)\b)\w+[ \t]+(?P<function>\w+)[ \t]*\([^;{}]{0,400}\)[ \t]*\n?\{",
    r"struct[ \t]+(?P<struct>\w+)[ \t]*\n?\{",
)
WGSL = (
    _START
    + r"(?:@\w+(?:\([^()\n]{0,200}\))?[ \t]*)*"
    + _any_of(r"fn[ \t]+(?P<function>\w+)[ \t]*\(", r"struct[ \t]+(?P<struct>\w+)")
)
