"""Texts that are made to be slow to look through, and how the time grows with their length."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator

from codefathom.source.secrets import find
from evals.secret_kinds import FORMATS, NAMES, fill
from evals.secret_places import PLACES
from evals.secret_surroundings import SURROUNDINGS

SIZES = (20_000, 80_000)
_RUNS = (
    *(
        "a",
        "A",
        "1",
        "a1",
        "aB3",
        "A1b-",
        "-",
        "_",
        ".",
        "=",
        "/",
        "+",
        ":",
        '"',
        "'",
        "`",
        "\\",
        "\\n",
        "\n",
        "\r\n",
        " ",
    ),
    *(
        "\t",
        "$",
        "$1$",
        "$2a$",
        "://",
        "://a:",
        "@",
        "a:b@",
        "eyJ",
        "eyJ.",
        "{",
        "}",
        "(",
        ",",
        ";",
        "#",
        "<",
        ">",
        "==",
    ),
    *(
        "key",
        "key=",
        'key="',
        "key='a",
        "key\n",
        'key" {',
        'key" { default ',
        "key: a",
        "key: a|b ",
        "token",
        "token token =",
    ),
    *(
        "password ",
        "password=",
        "password: ",
        'password": "',
        "pass" * 3,
        "auth=(",
        ".login(a, ",
        "secret\n  ",
        "密码",
        "ключ ",
    ),
    *(
        "curl ",
        "curl -u ",
        "curl -u a:",
        "mysql -p",
        "echo a ",
        "7z ",
        "net use ",
        "openssl -pass ",
        "identified with ",
    ),
    *(
        "-----BEGIN RSA PRIVATE KEY-----",
        "-----END RSA PRIVATE KEY-----",
        "-----BEGIN ",
        "A" * 64 + "\n",
        "aB3" * 22 + "\n",
    ),
    *("$ANSIBLE_VAULT;", "Private-Lines: 1\n", "machine a\n", "machine a login password\n  ", "kind: Secret\ndata:\n"),
    *('"kty":', '"d": "', '{"kind": "Secret", "data": {', '"sensitive": true', '"value": "', '"auths": {"auth": "'),
    *(
        "Cookie: ",
        "Set-Cookie: a=",
        "cookie=sid=",
        "Authorization: ",
        "Bearer ",
        "basic ",
        "sk-",
        "xoxb-",
        "ghp_",
        "AKIA",
    ),
    *(
        "v1.0-",
        "dp.st.",
        "1//0",
        "A3-",
        "st.",
        "sl.",
        "00",
        "SK",
        "pat",
        ":AA",
        "Q~",
        "5K",
        "a_B1",
        "a-b_C2d",
        "F=1 # a",
        "A='",
    ),
)


def adversarial() -> Iterator[tuple[str, Callable[[int], str]]]:
    """Yield titles and what makes a text of about so many signs."""
    for run in _RUNS:
        yield repr(run), lambda n, run=run: run * (n // len(run))  # type: ignore[misc]
    for first, second in zip(_RUNS, random.Random(1).sample(_RUNS, len(_RUNS)), strict=True):
        yield repr((first, second)), lambda n, a=first, b=second: a + b * (n // len(b))  # type: ignore[misc]
        yield repr(first + second), lambda n, both=first + second: both * (n // len(both))  # type: ignore[misc]
    for kind in (*FORMATS, *NAMES):
        yield kind.name, lambda n, kind=kind: _repeated(kind.form, n)  # type: ignore[misc]
    for place in PLACES:
        yield place.name, lambda n, form=place.places[0][1]: _repeated(form, n)  # type: ignore[misc]
    for surrounding in SURROUNDINGS:
        text = surrounding.text.format(name="api_key", value="aB3x" * 3)
        yield surrounding.title, lambda n, text=text: text * (n // len(text))  # type: ignore[misc]


def _repeated(form: str, n: int) -> str:
    """Return values that lack their last sign, one behind the other."""
    value = fill(form, random.Random(n))[:-1]
    return (value + " ") * (n // (len(value) + 1))


def growth(path: str = "", sizes: tuple[int, int] = SIZES) -> list[tuple[float, float, str]]:
    """Return (how many times longer four times the text takes, seconds, title), slowest growth last."""
    found = []
    for title, made in adversarial():
        short, long = (_seconds(made(size), path) for size in sizes)
        found.append((long / max(short, 1e-4), long, title))
    return sorted(found)


def _seconds(text: str, path: str) -> float:
    started = time.process_time()
    find(text, path)
    return time.process_time() - started
