"""Sources → one shell command that a model writes. It is shown, and never run."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace

from codefathom.answer.answer_types import Answer, Checked, Source, label_of
from codefathom.answer.problems import failure_of, model_failed
from codefathom.answer.stages.answer_run import AnswerRun
from codefathom.answer.stages.write import Text, answer_of_run, messages, places
from codefathom.errors import ProviderError
from codefathom.facts import reasons as say
from codefathom.facts.reasons import Note
from codefathom.providers.base import Ask, ChatModel, whole
from codefathom.types import SearchResult

_ROLE = "answering"
_NO_COMMAND = "{model} gave no single command"
_FENCED = re.compile(r"```[\w-]*\n(.*?)```", re.DOTALL)
_PROMPT_SIGN = re.compile(r"^[$>] +")
_CONTINUED = re.compile(r"\\\n\s*")


def write_command(
    run: AnswerRun, sources: tuple[Source, ...], result: SearchResult, model: ChatModel
) -> Iterator[Text | Answer]:
    """Yield the command, then the answer that it is the text of; without a command the answer has a failure."""
    run.say("answer", f"{model.name} is reading {len({source.path for source in sources})} files")
    problem: Note | None = None
    hint, command = "", ""
    with run.record.stage("answer", places(sources)) as stage:
        try:
            prompt = messages(run.question, sources, "command", shell=run.question.shell)
            reply = whole(stage.recorded(model), Ask(prompt, max_tokens=run.question.max_tokens))
            command = command_of(reply.text)
            stage.output = [reply.text]
            if not command:
                error = ProviderError(_NO_COMMAND.format(model=model.name), hint="say more exactly what it is to do")
                problem, hint = model_failed(_ROLE, error), error.hint
        except ProviderError as error:
            problem, hint = model_failed(_ROLE, error), error.hint
        stage.n_out, stage.detail = int(bool(command)), str(problem or "")
    run.add_degraded(problem or Note(say.NOT_RUN))
    if command:
        yield Text(command)
    answer = replace(answer_of_run(run, Checked(command, (), ()), sources, result), model=model.name)
    yield answer if command else _failed(answer, hint)


def _failed(answer: Answer, hint: str) -> Answer:
    failure = failure_of(_ROLE, answer.problems)
    return replace(answer, confidence=0.0, label=label_of(0.0), failure=failure, hint=hint)


def command_of(reply: str) -> str:
    """Return the one command of a reply, "" when it holds none or several lines that may be anything."""
    in_fences = _FENCED.findall(reply)
    text = in_fences[0] if len(in_fences) == 1 else reply
    lines = [line.strip() for line in _CONTINUED.sub(" ", text.strip()).splitlines() if line.strip()]
    if len(lines) != 1:
        return ""
    command = _PROMPT_SIGN.sub("", lines[0].removeprefix("`").removesuffix("`") if _is_quoted(lines[0]) else lines[0])
    return "" if command.strip(". ").upper() == "NONE" else command


def _is_quoted(line: str) -> bool:
    return len(line) > 1 and line[0] == line[-1] == "`" and line.count("`") == 2
