"""Whether a question in words asks for the history: who, when, why, by which commit. Pure.

Only the past tense of a verb of changes does: "when is the cache cleared" asks for code.
"""

from __future__ import annotations

import re

from codefathom.search.question.query import parse_query

_LONGEST = 200  # characters
# Done to code by people. "Closed", "called" or "dropped" are done at run time, too.
_MADE = (
    "introduced|added|removed|deleted|renamed|deprecated|reverted|refactored|rewritten|reworked|implemented|"
    "committed|merged|backported|extracted|inlined"
)
_CHANGED = f"{_MADE}|changed|modified|touched|edited|fixed|replaced|moved|broken|dropped|split|bumped|updated"
_DID = (
    "introduce|add|remove|delete|rename|deprecate|revert|refactor|rewrite|rework|implement|commit|merge|backport|"
    "change|fix|replace|move|drop|split|bump|update|switch"
)
_ACTIVE = f"{_CHANGED}|wrote|rewrote|broke|authored"
_PEOPLE = "we|you|they|somebody|someone|anyone|people|the (?:authors?|team|maintainers?)"
_COMMIT = "commits?|pull requests?|prs?|merge requests?|change ?sets?|revisions?"
_FIRST = r"(?:first |last |originally |initially |recently |ever )?"
_FORMS = (
    rf"when (?:was|were) .+? {_FIRST}(?:{_MADE})(?: .*)?",
    rf"when (?:was|were) .+ (?:last|first|originally) (?:{_CHANGED})(?: .*)?",
    rf"when did (?:{_PEOPLE}) {_FIRST}(?:{_DID}) .+",
    r"since when (?:is|are|does|do|has|have|was) .+",
    rf"who {_FIRST}(?:{_ACTIVE}) .+",
    rf"who (?:was|were) the (?:last|first) (?:person |one )?to (?:{_DID}|touch|edit|write) .+",
    r"(?:who is|who's|who was) the author of .+",
    rf"why (?:was|were) .+ {_FIRST}(?:{_MADE})(?: .*)?",
    rf"why did (?:{_PEOPLE}) {_FIRST}(?:{_DID}) .+",
    rf"(?:(?:in|by|with|since) )?(?:which|what) (?:{_COMMIT}) {_FIRST}(?:{_ACTIVE}) .+",
    rf"(?:in|by|with|since) (?:which|what) (?:{_COMMIT}) (?:was|were|did|is|has) .+",
    r"(?:(?:show|find|list)(?: me)? )?(?:the )?(?:first |last |latest )?"
    rf"(?:{_COMMIT}) (?:that|which|where) (?:{_ACTIVE}) .+",
)
_MADE_ZH = "引入|添加|加入|新增|加上|删除|删掉|移除|去掉|修改|改动|改成|重命名|重构|回滚|修复"
_FORMS_ZH = (
    rf".*(?:什么时候|何时|哪天)被?(?:{_MADE_ZH})(?:了.*|.*的)",
    rf".*(?:是|被)?谁(?:最后|最近|最先|最早)?(?:{_MADE_ZH}|写)(?:的|了.*|过.*)",
    rf".*哪(?:个|次|些)提交.*(?:{_MADE_ZH}).*",
    rf".*为什么(?:当初|当时)(?:要|会)?(?:{_MADE_ZH}).*",
)
_BEGINS = ("when ", "since when", "who ", "who's ", "why ", "in ", "by ", "with ", "since ", "which ", "what ")
_BEFORE = r"^(?:please |(?:can|could) you tell me |tell me |do you know )"


def asks_for_history(text: str) -> bool:
    """Return True for a question about how the code came to be; not if a mark names a path, a symbol or a filter."""
    words = " ".join(text.split()).rstrip(" ?.!\uff1f\u3002\uff01")
    if not words or len(words) > _LONGEST:
        return False
    if words.isascii():
        words = re.sub(_BEFORE, "", words.lower(), count=1)
        if not (words.startswith(_BEGINS) or "commit" in words or "pull request" in words):
            return False  # nothing is compiled for most questions
        forms: tuple[str, ...] = _FORMS
    elif not re.search("什么时候|何时|哪天|谁|提交|为什么当", words):
        return False
    else:
        words, forms = words.replace(" ", ""), _FORMS_ZH
    if not any(re.fullmatch(form, words) for form in forms):
        return False
    query = parse_query(text)
    return not (query.paths or query.symbols or query.where or query.members_of)
