"""The steps of the Dockerfile, carried out in folders in the place of images: for machines without Docker.

    python -m evals.trials.container BASE [--dockerfile Dockerfile] [--work FOLDER]

BASE is the root of a Debian system, such as one by `debootstrap --variant=minbase trixie BASE`, and stands for every
image that a FROM names. It is copied for each stage; RUN and the commands of the container run in `chroot`, which only
root may do. Then the container is used, as its own user: a search in a project that it may not write, the server with a
token, and the health check. Where PIP_CERT names the certificates of a proxy, RUN has them, too. Exit status 1 when
something does not work. Not tried here: the images and layers of Docker, volumes, and limits.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import NamedTuple
from urllib.request import Request, urlopen

ROOT = Path(__file__).parents[2]
_SOURCE = "def retry_payment(call):\n    '''Call the payment provider again until it answers.'''\n    return call()\n"
_LIMIT_S = 1_800
_CERTIFICATES = os.environ.get("PIP_CERT", "")
_CERTIFICATES_INSIDE = "/etc/certificates-of-the-trial.pem"


class Step(NamedTuple):
    """One instruction of a Dockerfile."""

    name: str
    text: str


@dataclass
class Image:
    """What the steps of a stage have made so far."""

    root: Path
    environ: dict[str, str] = field(default_factory=lambda: {"PATH": "/usr/sbin:/usr/bin:/sbin:/bin"})
    user: str = "root"
    folder: str = "/"
    entrypoint: list[str] = field(default_factory=list)
    command: list[str] = field(default_factory=list)
    health: list[str] = field(default_factory=list)


def read_dockerfile(text: str) -> list[Step]:
    """Return the steps. Raises ValueError for an instruction that this module does not know."""
    text = re.sub(r"^[ \t]*#.*\n?", "", text, flags=re.MULTILINE)
    lines = (line.strip() for line in text.replace("\\\n", " ").splitlines())
    steps = [Step(line.partition(" ")[0].upper(), line.partition(" ")[2].strip()) for line in lines if line]
    unknown = {step.name for step in steps} - {"FROM", *_STEPS}
    if unknown:
        raise ValueError(f"no trial for {', '.join(sorted(unknown))}")
    return steps


def build(steps: Sequence[Step], base: Path, work: Path) -> Image:
    """Carry out the steps, and return the last stage."""
    images: dict[str, Image] = {}
    image = Image(base)
    for step in steps:
        print(f"{step.name} {step.text[:100]}", flush=True)
        if step.name == "FROM":
            name = step.text.partition(" AS ")[2] or str(len(images))
            image = images[name] = Image(work / name)
            subprocess.run(["cp", "-a", "--reflink=auto", str(base), str(image.root)], check=True)
            shutil.copy("/etc/resolv.conf", image.root / "etc" / "resolv.conf")
            if _CERTIFICATES:
                shutil.copy(_CERTIFICATES, image.root / _CERTIFICATES_INSIDE.lstrip("/"))
        else:
            _STEPS[step.name](image, step.text, images)
    return image


def _run(image: Image, text: str, _: Mapping[str, Image]) -> None:
    _inside(image, ["/bin/sh", "-c", text], {"PIP_CERT": _CERTIFICATES_INSIDE} if _CERTIFICATES else {})


def _copy(image: Image, text: str, images: Mapping[str, Image]) -> None:
    words = shlex.split(text)
    source = ROOT
    if words[0].startswith("--from="):
        source = images[words.pop(0).removeprefix("--from=")].root
    *patterns, target = words
    place = image.root / target.lstrip("/")
    found = [path for pattern in patterns for path in source.glob(pattern.lstrip("/"))]
    if not found:
        raise FileNotFoundError(f"COPY finds nothing at {patterns}; `make dist` makes the wheel")
    for path in found:
        subprocess.run(["cp", "-a", str(path), str(place)], check=True)


def _env(image: Image, text: str, _: Mapping[str, Image]) -> None:
    image.environ |= dict(pair.split("=", 1) for pair in shlex.split(text))


def _user(image: Image, text: str, _: Mapping[str, Image]) -> None:
    image.user = text


def _workdir(image: Image, text: str, _: Mapping[str, Image]) -> None:
    image.folder = text
    (image.root / text.lstrip("/")).mkdir(parents=True, exist_ok=True)


def _entrypoint(image: Image, text: str, _: Mapping[str, Image]) -> None:
    image.entrypoint = json.loads(text)


def _cmd(image: Image, text: str, _: Mapping[str, Image]) -> None:
    image.command = json.loads(text)


def _health(image: Image, text: str, _: Mapping[str, Image]) -> None:
    image.health = json.loads(text.partition("CMD ")[2])


def _nothing(image: Image, text: str, _: Mapping[str, Image]) -> None:
    """VOLUME and EXPOSE change nothing in a folder."""


_STEPS = {
    **{"RUN": _run, "COPY": _copy, "ENV": _env, "USER": _user, "WORKDIR": _workdir, "ENTRYPOINT": _entrypoint},
    **{"CMD": _cmd, "HEALTHCHECK": _health, "VOLUME": _nothing, "EXPOSE": _nothing},
}


def _words(image: Image, words: Sequence[str], environ: Mapping[str, str]) -> list[str]:
    pairs = [f"{name}={value}" for name, value in {**image.environ, **environ}.items()]
    inner = f'cd "{image.folder}" && exec "$@"'
    return [
        "chroot",
        f"--userspec={image.user}",
        str(image.root),
        "/usr/bin/env",
        "-i",
        *pairs,
        "sh",
        "-c",
        inner,
        "sh",
        *words,
    ]


def _inside(image: Image, words: Sequence[str], environ: Mapping[str, str] | None = None) -> str:
    """Run words as the user of an image, and return what they print."""
    done = subprocess.run(
        _words(image, words, environ or {}),
        check=False,
        capture_output=True,
        text=True,
        timeout=_LIMIT_S,
        stdin=subprocess.DEVNULL,
    )
    if done.returncode:
        raise RuntimeError(f"{words} ended with {done.returncode}: {done.stderr[-2_000:]}")
    return done.stdout


def use(image: Image) -> None:
    """Use the container as a person would. Raises RuntimeError, AssertionError."""
    fathom = image.entrypoint
    assert _inside(image, ["id", "-u"]).strip() != "0", "the container runs as root"
    project = image.root / "code"
    (project / "pay.py").write_text(_SOURCE, encoding="utf-8")
    os.chown(project, 0, 0)  # as a volume that may not be written
    assert "pay.py:1-3" in _inside(image, [*fathom, "search", "who calls the provider again"])
    assert [path.name for path in project.iterdir()] == ["pay.py"], "something was written into the project"
    token, note = _new_token(image)
    with _serving(image, {"FATHOM_SERVER__TOKENS": note}):
        _inside(image, image.health)
        assert "/code" in _get("/projects", {"Authorization": f"Bearer {token}"})
        assert "<!doctype html" in _get("/search", {"Accept": "text/html"}).lower()


def _get(path: str, heads: Mapping[str, str]) -> str:
    with urlopen(Request(f"http://127.0.0.1:8900{path}", headers=dict(heads)), timeout=60) as response:
        return str(response.read().decode())


def _new_token(image: Image) -> tuple[str, str]:
    """Return a token, and what the settings say of it."""
    words = _words(image, [*image.entrypoint, "serve", "--new-token", "trial"], {})
    done = subprocess.run(words, check=True, capture_output=True, text=True, timeout=_LIMIT_S)
    match = re.search(r"add (\S+) to", done.stderr)
    assert match, done.stderr
    return done.stdout.strip(), match[1]


@contextmanager
def _serving(image: Image, environ: Mapping[str, str]) -> Iterator[None]:
    words = _words(image, [*image.entrypoint, *image.command], environ)
    process = subprocess.Popen(words, stdin=subprocess.DEVNULL)
    try:
        deadline = time.monotonic() + 120
        while socket.socket().connect_ex(("127.0.0.1", 8900)):
            assert process.poll() is None, "the server has ended"
            assert time.monotonic() < deadline, "the server does not answer"
            time.sleep(0.2)
        yield
    finally:
        process.terminate()
        process.wait(60)


def main() -> int:
    """Build and use it."""
    arguments = argparse.ArgumentParser()
    arguments.add_argument("base", type=Path)
    arguments.add_argument("--dockerfile", type=Path, default=ROOT / "Dockerfile")
    arguments.add_argument("--work", type=Path)
    chosen = arguments.parse_args()
    with tempfile.TemporaryDirectory(dir=chosen.work) as work:
        os.chmod(work, 0o755)
        image = build(read_dockerfile(chosen.dockerfile.read_text(encoding="utf-8")), chosen.base, Path(work))
        size = int(subprocess.run(["du", "-sm", str(image.root)], check=True, capture_output=True).stdout.split()[0])
        use(image)
    print(f"works; {size} MB unpacked")
    return 0


if __name__ == "__main__":
    sys.exit(main())
