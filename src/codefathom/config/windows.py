"""Settings → how a question is answered with them: in how many stages, and on how many tokens."""

from __future__ import annotations

from codefathom.config.settings import LEAST_CONTEXT, Settings
from codefathom.errors import SettingsError

# A model that does not say how much it takes gets no more than small local ones do.
_SMALL_WINDOW = 24_000
_RULES = 1_000  # tokens of the rules and the question, for any stage
_ANSWER_RULES = 400  # of these for an answer


def filter_level(settings: Settings) -> int:
    """Return the level as set; what decides by itself lets a model select and judge where there is one."""
    level, llm = settings.select.filter_level, settings.llm
    return level if level >= 0 else int(bool(llm.of("select") or llm.of("judge")))


def window(settings: Settings) -> int:
    """Return the tokens of a context: as set, but no more than the model takes unless that is switched off."""
    if settings.context.disable_auto_window:
        return settings.context.window
    room = settings.llm.window - settings.answer.max_tokens if settings.llm.window else _SMALL_WINDOW
    return max(min(settings.context.window, room), 1)


def check_room(settings: Settings) -> None:
    """Raise SettingsError where the model's window leaves no room for sources beside the reply."""
    if not settings.llm.window or settings.context.disable_auto_window:
        return
    room, needed = settings.llm.window - settings.answer.max_tokens, settings.answer.max_tokens + LEAST_CONTEXT
    if room < LEAST_CONTEXT:
        raise SettingsError(
            f"llm.window {settings.llm.window} leaves {max(room, 0)} tokens for sources beside answer.max_tokens "
            f"{settings.answer.max_tokens}, and {LEAST_CONTEXT} are needed",
            hint=f"set llm.window to at least {needed}, or to 0: unknown, or lower answer.max_tokens",
        )


def answer_window(settings: Settings) -> int:
    """Return the tokens that the answering model is shown: fewer where no model has chosen what they are spent on."""
    most = window(settings)
    return most if filter_level(settings) else min(most, max(settings.answer.context_tokens - _ANSWER_RULES, 1))


def largest_call(settings: Settings) -> int:
    """Return the tokens, rather too many, of the largest call that a question makes: sources, rules and reply."""
    sources = window(settings) if filter_level(settings) else answer_window(settings)
    return sources * 4 // 3 + _RULES + settings.answer.max_tokens
