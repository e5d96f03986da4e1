"""The map of the peer Aider, made in a process of its own environment: `python aider_map.py`, one JSON object a line.

A line asks with {"root", "text", "max_tokens"}; the answer is {"paths"}. Words of the text are told to Aider as those
that a message mentions, as its chat does. The environment needs `aider-chat`, and `codefathom` on its path to count
tokens.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from types import SimpleNamespace

from aider.io import InputOutput
from aider.repomap import RepoMap

from codefathom.answer.tokens import estimate


def main() -> None:
    """Answer each line of stdin."""
    out, sys.stdout = sys.stdout, sys.stderr
    for line in sys.stdin:
        out.write(json.dumps({"paths": paths(**json.loads(line))}) + "\n")
        out.flush()


def paths(root: str, text: str, max_tokens: int) -> list[str]:
    """Return the files that Aider shows of a project, for a message."""
    files = sorted(str(path) for path in Path(root).rglob("*.py"))
    model = SimpleNamespace(token_count=estimate)
    aider = RepoMap(root=root, main_model=model, io=InputOutput(pretty=False, yes=True), map_tokens=max_tokens)
    words = set(re.split(r"\W+", text))
    names = [str(Path(path).relative_to(root)) for path in files]
    mentioned = {name for name in names if Path(name).name in text or Path(name).stem in words}
    shown = aider.get_ranked_tags_map([], files, max_tokens, mentioned, words)
    lines = {line.rstrip(":") for line in (shown or "").split("\n")}
    return [name for name in names if name in lines]


if __name__ == "__main__":
    main()
