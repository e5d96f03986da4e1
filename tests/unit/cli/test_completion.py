"""The scripts for shells name each command and option, and a shell takes them."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest
from tests.waiting import LONG_S

from codefathom.cli.completion import script
from codefathom.cli.options import COMMANDS, COMMON_OPTIONS, SHELLS


@pytest.mark.parametrize("shell", SHELLS)
def test_a_script_names_all_commands_options_and_choices(shell: str) -> None:
    text = script(shell)
    for command in COMMANDS:
        assert command.name in text
        for option in (*command.options, *COMMON_OPTIONS):
            assert option.names[-1].lstrip("-") in text
            assert all(choice in text for choice in option.choices)


@pytest.mark.parametrize("shell", SHELLS)
def test_a_shell_reads_its_script(shell: str, tmp_path: Path) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"{shell} is not installed")
    path = tmp_path / "script"
    path.write_text(script(shell))
    ran = subprocess.run([shell, "-n", str(path)], capture_output=True, check=False, timeout=LONG_S)
    assert (ran.returncode, ran.stderr) == (0, b"")


@pytest.mark.skipif(shutil.which("bash") is None, reason="bash is not installed")
@pytest.mark.parametrize(
    ("words", "completed"),
    [
        ("fathom sea", "search"),
        ("fathom search --mod", "--mode"),
        ("fathom search --mode hy", "hybrid"),
        ("fathom -q index --wat", "--watch"),
        ("fathom search pric", ""),
    ],
)
def test_bash_completes(words: str, completed: str, tmp_path: Path) -> None:
    path = tmp_path / "script"
    path.write_text(script("bash"))
    last = len(words.split()) - 1
    program = f'source {path}; COMP_WORDS=({words}); COMP_CWORD={last}; _fathom; echo "${{COMPREPLY[*]}}"'
    ran = subprocess.run(["bash", "-c", program], capture_output=True, text=True, check=True, timeout=LONG_S)
    assert ran.stdout.strip() == completed
