"""Kinds of secrets are found, and what is kept of a text has the same lines and columns; see `evals/secrets.py`."""

from __future__ import annotations

import random

import pytest
from evals.secret_growth import adversarial
from evals.secret_kinds import FORMATS, NAMES, Kind, fill
from evals.secret_places import PLACES
from evals.secrets import instances, is_hidden, outcomes
from hypothesis import given, settings
from hypothesis import strategies as st

from codefathom.source.secrets import MASK, blank, find, mask

SIGNS = "aB3dE5gH7jK9mN2pQ4sT6vW8xY1zC0fR"
CHOSEN = "Wq7" + "$kLm2z"
DOCKER = "Ym90" + "OnM0ZmVfUGFzc3cwcmQ="

# What leaked in the trial from outside: path, text in which "{}" stands for the secret, secret.
LEAKED = [
    ("a.sh", "AWS_SK={}", SIGNS + "K7q/m2Zx"),
    ("a.py", "https://api.telegram.org/bot{}/sendMessage", "8265903147:A" + "A" + SIGNS + "x"),
    ("a.py", "f = '{}'", "gAAAA" + "AB" + SIGNS * 4),
    ("a.sh", 'curl -H "X-Auth-Key: {}" https://a.io', "3fa94c07be15d268" * 2),
    ("wg.conf", "PrivateKey = {}", SIGNS + "K7q/m2ZxY8b="),
    ("config.json", '{{"auths": {{"a.io": {{"auth": "{}"}}}}}}', DOCKER),
    ("a.txt", "Cookie: theme=dark; sessionid={}", SIGNS.lower()),
    ("a.sh", "curl -u admin:{} https://a.io", CHOSEN),
    ("a.sh", "mysql -u root -p{} main", "Maple" + "2041"),
    ("a.sh", "sshpass -p {} ssh root@a", "Maple" + "2041"),
    ("A.java", 'source.setPassword("{}");', CHOSEN),
    ("a.tf", 'variable "db_password" {{\n  type    = string\n  default = "{}"\n}}', CHOSEN),
    ("a.php", "'appkey' => '{}',", SIGNS[:24]),
    ("a.py", "密码 = '{}'", CHOSEN),
    (".env", "ANYTHING={}", "maple"),
    ("deploy/prod.env", "export ANYTHING='{}'", "two words"),
    (".env.local", "# ANYTHING={}", "42"),
    (".envrc", 'export A="{}"', "z"),
]


@pytest.mark.parametrize(("path", "around", "secret"), LEAKED)
def test_what_leaked_once_is_masked(path: str, around: str, secret: str) -> None:
    text = around.format(secret)

    masked = mask(text, path)

    assert secret not in masked.text
    assert len(find(text, path)) == 1
    assert blank(text, path) == text.replace(secret, "".join(MASK if sign != " " else " " for sign in secret))


def test_a_token_over_two_lines_is_masked_and_its_quotes_stay() -> None:
    first, second = "gh" + "p_" + SIGNS[:16], SIGNS[:20]

    kept = blank(f'T = ("{first}"\n     "{second}")\n', "a.py")

    assert kept == f'T = ("{MASK * 20}"\n     "{MASK * 20}")\n'


@pytest.mark.parametrize("kind", [*FORMATS, *PLACES, *NAMES], ids=lambda kind: kind.name)
def test_every_kind_is_found(kind: Kind) -> None:
    found = [outcome.found for outcome in outcomes([kind], seed=77, n=1)]

    assert sum(found) >= 0.9 * len(found) - 1


def test_nothing_literal_in_the_set_is_a_secret_of_a_known_form() -> None:
    guessed = {"secret", "password", "authorization", "cookie", "token"}
    for kind in FORMATS:
        assert {span.kind for span in find(kind.form)} <= guessed


FORMS = st.sampled_from(
    [kind.form for kind in (*FORMATS, *NAMES)] + [place[1] for kind in PLACES for place in kind.places]
)
PIECES = st.builds(lambda form, seed: fill(form, random.Random(seed)), FORMS, st.integers(0, 99))
WORDS = st.sampled_from(
    ['password = "', "api_key: ", '"', "\n", "\r\n", "token=", " ", "curl -u a:", "İ", MASK, "«", "\\n", "\t"]
)
TEXTS = st.lists(st.one_of(PIECES, WORDS, st.text(max_size=12)), max_size=8).map("".join)
PATHS = st.sampled_from(["", "a.py", ".env", ".netrc", ".pgpass", "secret.yaml", ".npmrc", "config/master.key"])


@settings(max_examples=150, deadline=None)
@given(text=TEXTS, path=PATHS)
def test_what_is_kept_has_the_same_lines_and_columns(text: str, path: str) -> None:
    kept = blank(text, path)

    assert len(kept) == len(text)
    assert list(map(len, kept.splitlines())) == list(map(len, text.splitlines()))
    assert all(new in (old, MASK) for old, new in zip(text, kept, strict=True))
    assert all(not text[span.start : span.end].isspace() and span.end > span.start for span in find(text, path))


@settings(max_examples=100, deadline=None)
@given(text=TEXTS, path=PATHS)
def test_a_mask_hides_what_is_not_kept(text: str, path: str) -> None:
    spans = find(text, path)

    assert (blank(text, path) == text) == all(not text[s.start : s.end].replace(MASK, "").strip() for s in spans)


@pytest.mark.parametrize("path", ["", ".env", ".netrc", ".pgpass", ".htpasswd", "config/master.key", ".npmrc"])
def test_no_text_takes_for_ever(path: str) -> None:
    # A rule that tries every way would take days here, not minutes; `python -m evals.secrets` measures the growth.
    for _, made in adversarial():
        find(made(2_000), path)


def test_every_instance_holds_its_secret_first() -> None:
    for kind in (*FORMATS, *PLACES, *NAMES):
        for _, instance in instances(kind, n=1):
            assert not is_hidden(instance.text, instance.values, instance.known), kind.name
