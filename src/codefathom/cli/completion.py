"""Scripts that complete commands and options in a shell, made from the option tables. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from codefathom.cli.options import COMMANDS, COMMON_OPTIONS, Command, Option

_BASH = """\
# Completion of fathom for bash.
_fathom() {
    local word=${COMP_WORDS[COMP_CWORD]} before=${COMP_WORDS[COMP_CWORD-1]} command= each
    for each in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
        case $each in NAMES) command=$each; break;; esac
    done
    COMPREPLY=()
    case $command:$before in
CHOICES    esac
    case $command in
OPTIONS    *) COMPREPLY=($(compgen -W "COMMANDS" -- "$word"));;
    esac
}
complete -o default -F _fathom fathom
"""
_ZSH = """\
#compdef fathom
# Completion of fathom for zsh.
_fathom() {
    local -a commands
    commands=(
COMMANDS    )
    if (( CURRENT == 2 )); then
        _describe command commands
        return
    fi
    case $words[2] in
OPTIONS    esac
}
compdef _fathom fathom
"""


def script(shell: str) -> str:
    """Return the script for a shell: bash, zsh or fish."""
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell]()


def _options(command: Command) -> Iterable[Option]:
    return (*command.options, *COMMON_OPTIONS)


def _bash() -> str:
    names = [command.name for command in COMMANDS]
    choices = [
        f"    {'|'.join(f'{command.name}:{name}' for name in option.names)}) "
        f'COMPREPLY=($(compgen -W "{" ".join(option.choices)}" -- "$word")); return;;\n'
        for command in COMMANDS
        for option in _options(command)
        if option.choices
    ]
    options = [
        f"    {command.name}) [[ $word == -* ]] && "
        f'COMPREPLY=($(compgen -W "{" ".join(_names(command))}" -- "$word"));;\n'
        for command in COMMANDS
    ]
    text = _BASH.replace("CHOICES", "".join(choices)).replace("OPTIONS", "".join(options))
    return text.replace("NAMES", "|".join(names)).replace("COMMANDS", " ".join(names))


def _names(command: Command) -> list[str]:
    return [name for option in _options(command) for name in option.names]


def _zsh() -> str:
    commands = "".join(f"        {_quoted(f'{command.name}:{command.summary}')}\n" for command in COMMANDS)
    options = "".join(
        f"    {command.name}) _arguments {' '.join(map(_zsh_option, _options(command)))} '*:file:_files';;\n"
        for command in COMMANDS
    )
    return _ZSH.replace("COMMANDS", commands).replace("OPTIONS", options)


def _zsh_option(option: Option) -> str:
    help_text = option.help.replace("[", "(").replace("]", ")").replace(":", "\\:")
    value = ""
    if option.metavar:
        value = f":{option.metavar.lower()}:" + (f"({' '.join(option.choices)})" if option.choices else "_files")
    mark = "*" if option.repeat else ""
    return " ".join(_quoted(f"{mark}{name}[{help_text}]{value}") for name in option.names)


def _fish() -> str:
    lines = ["# Completion of fathom for fish."]
    for command in COMMANDS:
        lines.append(f"complete -c fathom -n __fish_use_subcommand -a {command.name} -d {_quoted(command.summary)}")
        lines += [_fish_option(command, option) for option in _options(command)]
    return "\n".join(lines) + "\n"


def _fish_option(command: Command, option: Option) -> str:
    names = " ".join(f"-l {name[2:]}" if name.startswith("--") else f"-s {name[1:]}" for name in option.names)
    value = f" -x -a {_quoted(' '.join(option.choices))}" if option.choices else " -r" if option.metavar else ""
    condition = _quoted(f"__fish_seen_subcommand_from {command.name}")
    return f"complete -c fathom -n {condition} {names}{value} -d {_quoted(option.help)}"


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"
