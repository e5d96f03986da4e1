"""A question → the plan of its search, and the reason: by expression, symbol, connection, or words and meaning. Pure.

The user overrules the plan with a mode. Of the index, a plan needs only the names.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Literal, NamedTuple, TypeAlias

from codefathom.errors import UsageError
from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note
from codefathom.search.question.query import Query, parse_query
from codefathom.text.expression_syntax import MAX_CHARACTERS
from codefathom.text.expressions import check
from codefathom.types.choices import Mode, Route
from codefathom.types.hits import SearchPlan

Relation: TypeAlias = Literal["used by", "called by", "calls", "imported by", "imports"]


class ConnectionQuery(NamedTuple):
    """A question about connections: `who calls parse_query` is ("called by", "parse_query")."""

    relation: Relation
    target: str  # a name or a path, without marks


class MembersQuery(NamedTuple):
    """A question about the members of a type: `methods of class Order about prices` is ("Order", "prices")."""

    owner: str
    topic: str


class PlannedSearch(NamedTuple):
    """The plan of a search: its mode, the plan that the user sees, and the connection to follow."""

    mode: Mode
    plan: SearchPlan
    connection: ConnectionQuery | None = None  # with mode "graph"
    pattern: str = ""  # with mode "regex", where it is not the text of the question
    is_overview: bool = False  # it asks for the project as a whole
    members: MembersQuery | None = None  # the type to which the question is kept

    def adapted(self, query: Query) -> Query:
        """Return the query to search with: a name may be the target of a connection, or the scope in plain words."""
        if self.connection:
            return query._replace(paths=(), symbols=(), members_of=None)
        if self.members:
            topic = parse_query(self.members.topic)
            return query._replace(text=topic.text, members_of=self.members.owner, intent=topic.intent)
        return query


def plan(
    query: Query,
    is_known: Callable[[str], bool],
    is_module: Callable[[str], bool] = lambda _: False,
    is_type: Callable[[str], bool] = lambda _: False,
) -> PlannedSearch:
    """Return the plan for a question. `is_known` returns True if a name is defined here or a path is indexed;
    `is_module`, if a file is the module of a name; `is_type`, if a class or another type has the name."""
    if query.intent != "error" and (exact := _exact(query, is_known, is_module)):
        return exact
    if (members := members_query(query)) and is_type(members.owner):
        why = Note(say.MEMBERS, {"owner": members.owner})
        return PlannedSearch("hybrid", SearchPlan("semantic", why, members.owner), members=members)
    return PlannedSearch("hybrid", _by_words_and_meaning(query, is_known, is_module))


def _by_words_and_meaning(
    query: Query, is_known: Callable[[str], bool], is_module: Callable[[str], bool]
) -> SearchPlan:
    """Return the plan for a question that words, names and meaning answer together."""
    if query.intent == "symbol" and query.text and is_known(query.text):
        return SearchPlan("symbol", Note(say.DEFINED_HERE, {"name": query.text}))
    if query.intent == "symbol" and query.text and is_module(query.text):
        return SearchPlan("semantic", Note(say.NAMES_MODULE))
    if query.intent == "question" and query.is_pasted:
        return SearchPlan("semantic", Note(say.PASTED))
    if query.intent == "question":
        return SearchPlan("answer", Note(say.QUESTION))
    return SearchPlan("semantic", Note(_BY_INTENT[query.intent]))


def _exact(query: Query, is_known: Callable[[str], bool], is_module: Callable[[str], bool]) -> PlannedSearch | None:
    """Return the plan for a question that asks for exactly something: a pattern, signs, the project, a connection."""
    if is_expression(query):
        return PlannedSearch("regex", SearchPlan("regex", Note(say.EXPRESSION)))
    if _is_sign(query.text):
        pattern = f"(?i:{re.escape(query.text)})"
        return PlannedSearch("regex", SearchPlan("regex", Note(say.AS_WRITTEN)), pattern=pattern)
    if _is_about_all(query):
        return PlannedSearch("hybrid", SearchPlan("answer", Note(say.ABOUT_ALL)), is_overview=True)
    connection = connection_query(query)
    if connection and (is_known(connection.target) or is_module(connection.target)):
        why = Note(_IN_WORDS[connection.relation], {"name": connection.target})
        return PlannedSearch("graph", SearchPlan("graph", why), connection)
    return None


def route_of(text: str) -> Route:
    """Return the route of a question in a project that defines every name."""
    return plan(parse_query(text), lambda _: True).plan.route


def overruled(mode: Mode, query: Query) -> PlannedSearch:
    """Return the plan for the mode that the user chose. With mode "graph" a name alone asks for its uses."""
    route = _ROUTE_OF.get(mode, "semantic")
    if mode != "graph":
        return PlannedSearch(mode, SearchPlan(route))
    used_by = ConnectionQuery("used by", _name(query.as_written.strip()))
    return PlannedSearch(mode, SearchPlan(route), connection_query(query) or used_by)


_ROUTE_OF: dict[Mode, Route] = {"regex": "regex", "symbol": "symbol", "graph": "graph"}
_BY_INTENT = {
    "symbol": say.NOT_DEFINED,
    "path": say.NAMES_FILE,
    "error": say.ERROR_MESSAGE,
    "keywords": say.KEYWORDS,
}
_IN_WORDS: dict[Relation, str] = {
    "used by": say.WHAT_USES,
    "called by": say.WHAT_CALLS,
    "calls": say.WHAT_IT_CALLS,
    "imported by": say.WHAT_IMPORTS,
    "imports": say.WHAT_IT_IMPORTS,
}

# ---- regular expressions

_MARKS = frozenset("\\^$*+|[")
# Strings: most queries never need them, and a start-up should not wait for their compilation.
_EXPRESSION = (
    r"^\^\s*[\w(\\]|[(|]\^\w|[\w)\]}]\$$"  # anchors
    r"|\\[.()\[\]{}*+?^$|]|(?<![\w:\\])\\[wWdDsS](?![A-Za-z])|\\[wWdDsS][+*?{)\]]"  # escapes
    r"|(?<![\w:\\])\\b|\w\\b(?!\w)"  # ends of words
    r"|(?<![\w/])\.[*+]|\.[*+]\??[^\s;,]"  # anything, and something after it
    r"|\[\^?(?:a-z|A-Z|0-9|\\w|\\d)[^\]\s]*\][+*?{]?"  # classes
    r"|\((?:\?:)?\w+(?:\|\w+)+\)|^\w{2,}(?:\|\w{2,})+$"  # alternatives
)


def is_expression(query: Query) -> bool:
    """Return True for a query that can hardly be anything but a regular expression."""
    text = query.text
    if "\n" in text or len(text) > MAX_CHARACTERS or _MARKS.isdisjoint(text) or query.intent == "symbol":
        return False
    if not re.search(_EXPRESSION, text):
        return False
    try:
        check(text)
    except UsageError:
        return False
    return True


def _is_sign(text: str) -> bool:
    """Return True for signs without a word, such as `::` or `?`, and for a name that ends in them, such as `C++`."""
    is_short = len(text) <= 20 and text.isascii()  # nothing is compiled for most questions
    return is_short and re.fullmatch(r"[^\w\s]+|[A-Za-z](?:\+\+|#)", text) is not None


# ---- the project as a whole

_WORDS = "project|repo|repository|code ?base|code|package|library|tool|program|software|app|application"
_PROJECT = rf"(?:(?:this|the|your|my|our) )?(?:{_WORDS})"
_OVERVIEW = (
    rf"what (?:is|does) {_PROJECT}(?: do| for| about)*"
    r"|what(?: is|'s) (?:it|this)(?: for| about| all about)?"
    rf"|what(?: is|'s) the (?:purpose|goal|aim) of {_PROJECT}"
    rf"|(?:purpose|goal|overview|summary|description) of {_PROJECT}"
    rf"|(?:(?:give|show) (?:me |us )?)?(?:an? )?(?:project )?(?:overview|summary)(?: of {_PROJECT})?"
    rf"|(?:describe|explain|summari[sz]e|introduce) {_PROJECT}|tell (?:me|us) about {_PROJECT}"
    rf"|how is {_PROJECT} (?:structured|organi[sz]ed|laid out)"
    r"|where (?:do|should) i (?:start|begin)(?: reading)?"
)
_BEGINS = (
    *("what", "purpose", "goal", "overview", "summar", "descri", "an ", "a ", "give", "show", "project", "explain"),
    *("introduce", "tell", "how is", "where do i", "where should i", "please", "can you", "could you"),
)
_ENDS_OF_HOW = ("structured", "organised", "organized", "laid out")
_PROJECT_ZH = "(?:这个?|该|本|此)?(?:项目|仓库|代码库|代码|程序|工具|软件|库|应用)"
_OVERVIEW_ZH = (
    f"{_PROJECT_ZH}(?:到底|主要)?(?:是|用来|用于|是用来)?(?:做什么|干什么|干嘛|干啥|做啥|什么|有什么用|怎么组织)(?:用)?的?"
    f"|{_PROJECT_ZH}的?(?:用途|作用|目的|功能|概述|概况|概览|简介|介绍|结构)(?:是什么)?"
    f"|(?:介绍|概述|总结|解释)(?:一下)?{_PROJECT_ZH}"
)


def _is_about_all(query: Query) -> bool:
    """Return True for a question about the project as a whole: "What is this project for?" and its kin."""
    text = " ".join(query.as_written.split()).lower().rstrip(_ENDS)
    if not text or len(text) > _LONGEST_ABOUT_ALL:
        return False
    if text.isascii():
        # Nothing is compiled for most questions.
        if not text.startswith(_BEGINS) or (text.startswith("how is") and not text.endswith(_ENDS_OF_HOW)):
            return False
        text = re.sub("(?:please|can you|could you) ", "", text, count=1)
        return bool(re.fullmatch(_OVERVIEW, text))
    return bool(re.fullmatch(_OVERVIEW_ZH, text.replace(" ", "")))


# ---- connections

_THING = r"(?:function|method|class|type|struct|trait|interface|macro|symbol|constant|variable|module|file|package)"
_NAME = rf"(?:the )?(?:{_THING} )?[`'\"]?(?P<name>[^\s`'\",;?]+)[`'\"]?(?: {_THING})?"
_WHO = r"(?:who|what(?: \w+)?|which \w+(?: \w+)?|where do(?:es)? \w+)"
_WHO_ZH = "(?:谁|哪里|哪儿|哪些(?:地方|函数|方法|代码|文件|类|模块)?|什么(?:地方|函数|代码|文件)?)"
_NAME_ZH = r"\s*[`'\"]?(?P<name>[A-Za-z_@$][\w.:#/$@()-]*)[`'\"]?\s*(?:函数|方法|类|文件|模块)?"
# The relation, a text that each matching question holds, and the pattern of the whole question.
_PATTERNS: tuple[tuple[Relation, str, str], ...] = (
    ("called by", "call", rf"{_WHO} (?:calls?|invokes?) {_NAME}"),
    ("called by", "call", rf"(?:all )?(?:the )?(?:callers?|call sites?) (?:of|to|for) {_NAME}"),
    ("called by", "called", rf"where (?:is|are|does|do) {_NAME} (?:being |get )?called(?: from)?"),
    ("called by", "call", rf"{_NAME} (?:callers|call sites)"),
    ("used by", "use", rf"{_WHO} uses? {_NAME}"),
    ("used by", "referenc", rf"{_WHO} references? {_NAME}"),
    ("used by", "depend", rf"{_WHO} depends? on {_NAME}"),
    ("used by", "instantiat", rf"{_WHO} instantiates? {_NAME}"),
    ("used by", "s of ", rf"(?:all )?(?:the )?(?:usages?|uses|users|references|occurrences) of {_NAME}"),
    ("used by", "references to", rf"(?:all )?(?:the )?references to {_NAME}"),
    ("used by", " used", rf"where (?:is|are) {_NAME} (?:being )?used"),
    ("used by", " referenced", rf"where (?:is|are) {_NAME} (?:being )?referenced"),
    ("used by", " invoked", rf"where (?:is|are) {_NAME} (?:being )?invoked"),
    ("used by", " instantiated", rf"where (?:is|are) {_NAME} (?:being )?instantiated"),
    ("used by", "do we use", rf"where do we use {_NAME}"),
    ("used by", " usages", rf"{_NAME} usages"),
    ("used by", " references", rf"{_NAME} references"),
    ("calls", "call", rf"what(?: \w+)? (?:does|do) {_NAME} call"),
    ("calls", "call", rf"(?:callees of|what(?: \w+)? (?:is|are) called (?:by|from|in)) {_NAME}"),
    ("imported by", "import", rf"{_WHO} imports? {_NAME}"),
    ("imported by", "import", rf"(?:importers of|files (?:that import|importing)) {_NAME}"),
    ("imported by", "imported", rf"where is {_NAME} imported"),
    ("imports", "import", rf"(?:what(?: \w+)? does {_NAME} import|imports of (?P<other>\S+))"),
    ("imports", "depend", rf"(?:what(?: \w+)? does {_NAME} depend on|dependencies of (?P<other>\S+))"),
    ("called by", "调用", rf"{_WHO_ZH}(?:会|在)?调用(?:了|到)?{_NAME_ZH}"),
    ("called by", "调用", rf"{_NAME_ZH}(?:在|被)?{_WHO_ZH}(?:被)?调用(?:了|过)?"),
    (
        "called by",
        "调用",
        rf"(?:调用了?{_NAME_ZH}的(?:地方|函数|代码|位置|文件)|(?P<other>[\w.:]+)\s*的调用(?:者|处|方))",
    ),
    ("used by", "用", rf"{_WHO_ZH}(?:会|在)?(?:使用|引用|用到|用)(?:了|到)?{_NAME_ZH}"),
    ("used by", "用", rf"{_NAME_ZH}(?:在|被)?{_WHO_ZH}(?:被)?(?:使用|引用|用到)(?:了|过)?"),
    (
        "used by",
        "用",
        rf"(?:(?:使用|引用)了?{_NAME_ZH}的(?:地方|函数|代码|位置|文件)|(?P<other>[\w.:]+)\s*的(?:引用|使用处|用法))",
    ),
    ("calls", "调用", rf"{_NAME_ZH}(?:里|中)?调用了?(?:哪些|什么)(?:函数|方法)?"),
    ("imported by", "入", rf"{_WHO_ZH}(?:导入|引入)了?{_NAME_ZH}"),
    ("imports", "入", rf"{_NAME_ZH}(?:导入|引入)了?(?:哪些|什么)(?:文件|模块|包)?"),
    ("imports", "依赖", rf"{_NAME_ZH}依赖了?(?:哪些|什么)(?:文件|模块|包)?"),
)
_BEFORE = r"(?:please |can you |could you )?(?:show(?: me)?|find|list|tell me|give me|请|找出|列出|查找)\s+"
_ENDS = " ?.!\uff1f\u3002\uff01"
_LONGEST = 200  # characters
_LONGEST_ABOUT_ALL = 80


def connection_query(query: Query) -> ConnectionQuery | None:
    """Return the connection that a question asks for: calls, uses or imports; None for any other question."""
    text = " ".join(query.as_written.split())
    if len(text) > _LONGEST or not text:
        return None
    lowered = text.lower()
    possible = [(relation, pattern) for relation, word, pattern in _PATTERNS if word in lowered]
    if not possible:  # most questions: nothing is compiled for them
        return None
    text = re.sub(_BEFORE, "", text, count=1, flags=re.IGNORECASE).rstrip(_ENDS)
    for relation, pattern in possible:
        match = re.fullmatch(pattern, text, re.IGNORECASE)
        name = _name(match.groupdict().get("other") or match["name"] or "") if match else ""
        if name:
            return ConnectionQuery(relation, name)
    return None


def _name(written: str) -> str:
    return written.removeprefix("@@").removeprefix("@").removesuffix("()")


# ---- members of a type

_MEMBERS = "functions?|methods?|members?|properties|property|attributes?|fields?"
_TYPE = "class|struct|type|trait|interface|enum|object"
_LINK = "about|for|on|with|that|which|who|where|to|dealing with|related to|concerning|handling|doing|when|in charge of"
_WHICH = r"(?:(?:which|what|list|show|find|give|tell|me|us|all|any|of|the|are|is|there|please) )*"
_KNOWN_BY_WORD = rf"(?:{_TYPE}) [`'\"]?(?P<name>[\w.:]+)[`'\"]?,?"
_KNOWN_BY_FORM = rf"[`'\"]?(?P<other>(?:\w+[.:]+)*[A-Z]\w*)[`'\"]?(?: (?:{_TYPE}),?|,?(?= (?:{_LINK}) ))"
_OF_TYPE = (
    rf"{_WHICH}(?:{_MEMBERS}) (?:are |is )?(?:of|in|inside|from|on|within) (?:the )?"
    rf"(?:{_KNOWN_BY_WORD}|{_KNOWN_BY_FORM}) (?P<topic>.+)"
)
_OF_TYPE_ZH = (
    r"(?:请|找出|列出|查找)?(?:类\s*(?P<name>[A-Za-z_][\w.:]*)|(?P<other>[A-Za-z_][\w.:]*)\s*类)"
    r"\s*(?:里面|里|中|内)?的?(?P<topic>.+?)的?(?:方法|函数|成员|属性|字段)(?:有哪些|是哪些|是什么)?"
)
_FILLING = rf"^(?:(?:{_LINK}|is|are|do|does|can|the|they) )+|^(?:关于|有关|负责|用于|用来|处理|哪些)+"


def members_query(query: Query) -> MembersQuery | None:
    """Return the type and the topic of a question about members of a type; None for any other question."""
    text = " ".join(query.text.split()).rstrip(_ENDS)
    if query.members_of or query.symbols or not text or len(text) > _LONGEST:
        return None
    lowered = text.lower()
    if text.isascii():
        if not any(f" {word} " in lowered for word in ("of", "in", "inside", "from", "on", "within")):
            return None
        match = re.fullmatch(_OF_TYPE, text[0].lower() + text[1:])
    else:
        match = re.fullmatch(_OF_TYPE_ZH, text) if "类" in text else None
    if match is None:
        return None
    owner = (match["name"] or match["other"]).rstrip(".:")
    topic = re.sub(_FILLING, "", match["topic"]).strip()
    return MembersQuery(owner, topic) if owner and topic else None
