"""Secrets are masked, ordinary code stays as it is.

No example stands here whole, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codefathom.source.secrets import MaskedText, mask

_SIGNS = "aB3dE5gH7jK9mN2pQ4sT6vW8xY1zC0fR"
_HEX = "3fa94c07be15d268"
_KEY = "PRIVATE KEY-----"


def signs(n: int) -> str:
    return (_SIGNS * (n // len(_SIGNS) + 1))[:n]


def digits(n: int) -> str:
    return "8265903147"[:n]


def hexadecimal(n: int) -> str:
    return (_HEX * (n // len(_HEX) + 1))[:n]


def key_block(name: str = "", line_end: str = "\n", before: str = "", n_lines: int = 3) -> str:
    body = [signs(64)] * n_lines + [signs(20) + "=="]
    return line_end.join(before + line for line in ("-----BEGIN " + name + _KEY, *body, "-----END " + name + _KEY))


# kind, text in which "{}" stands for the secret, secret
FORMATS = [
    ("AWS key", "id = {}", "AK" + "IA" + "J5KZQ2W7XN4TRB6M"),
    ("AWS key", "id: '{}'", "AS" + "IA" + "J5KZQ2W7XN4TRB6M"),
    ("GitHub token", "use {} now", "gh" + "p_" + signs(36)),
    ("GitHub token", "use {} now", "gh" + "s_" + signs(36)),
    ("GitHub token", "git clone {}", "github" + "_pat_" + signs(22) + "_" + signs(59)),
    ("GitLab token", "x({})", "gl" + "pat-" + signs(20)),
    ("Slack token", '"{}"', "xo" + "xb-" + digits(10) + "-" + signs(24)),
    ("Slack token", '"{}"', "xa" + "pp-1-" + signs(11) + "-" + digits(10) + "-" + hexadecimal(64)),
    ("Slack webhook", "https://hooks.slack.com/services/{}", "T0" + signs(8) + "/B0" + signs(8) + "/" + signs(24)),
    ("Discord webhook", "https://discord.com/api/webhooks/{}", digits(10) + digits(8) + "/" + signs(68)),
    ("Stripe key", "k={}", "sk" + "_live_" + signs(24)),
    ("Stripe key", "k={}", "rk" + "_test_" + signs(24)),
    ("Stripe key", "k={}", "wh" + "sec_" + signs(32)),
    ("Google key", "?key={}&q=1", "AI" + "za" + signs(35)),
    ("Google key", "{}", "GOC" + "SPX-" + signs(28)),
    ("Google key", "{}", "ya" + "29." + signs(60)),
    ("Anthropic key", "model({})", "sk" + "-ant-api03-" + signs(80)),
    ("OpenAI key", "model({})", "sk" + "-" + signs(48)),
    ("OpenAI key", "model({})", "sk" + "-proj-" + signs(30) + "_" + signs(30)),
    ("model provider key", "{}", "h" + "f_" + signs(34)),
    ("model provider key", "{}", "gs" + "k_" + signs(52)),
    ("JWT", "token {}", "ey" + "J" + signs(20) + ".ey" + "J" + signs(40) + "." + signs(43)),
    ("npm token", "{}", "np" + "m_" + signs(36)),
    ("PyPI token", "{}", "py" + "pi-AgEI" + signs(80)),
    ("Docker token", "{}", "dck" + "r_pat_" + signs(27)),
    ("RubyGems key", "{}", "ruby" + "gems_" + hexadecimal(48)),
    ("Azure key", "AccountName=a;AccountKey={};Suffix=b", signs(86) + "=="),
    ("Azure key", "Endpoint=sb://a;SharedAccessKey={}", signs(43) + "="),
    ("Azure key", "https://a.blob.core/b?sv=1&sig={}", signs(43) + "%3D"),
    ("Twilio key", "{}", "S" + "K" + hexadecimal(32)),
    ("SendGrid key", "{}", "S" + "G." + signs(22) + "." + signs(43)),
    ("Telegram token", "bot {}", digits(10) + ":A" + "A" + signs(33)),
    ("DigitalOcean token", "{}", "do" + "p_v1_" + hexadecimal(64)),
    ("Shopify token", "{}", "shp" + "at_" + hexadecimal(32)),
    ("Vault token", "{}", "hv" + "s." + signs(24)),
    ("Terraform token", "{}", signs(14) + ".atlas" + "v1." + signs(60)),
    ("Databricks token", "{}", "da" + "pi" + hexadecimal(32)),
    ("Atlassian token", "{}", "ATA" + "TT3" + signs(80)),
    ("Grafana token", "{}", "gl" + "sa_" + signs(32) + "_" + hexadecimal(8)),
    ("age key", "{}", "AGE-SECRET" + "-KEY-1" + ("QPZRY9X8GF2TVDW0S3JN" * 3)[:58]),
]
GUESSES = [
    ("URL password", "postgres://app:{}@db:5432/main", "tr4vel-" + "Light"),
    ("URL password", "clone https://ci:{}@host.org/a.git", signs(12)),
    ("password", 'password = "{}"', "Tr0ub4dor" + "&3"),
    ("password", "db_passwd: '{}'", "c0rrect-H" + "orse9x"),
    ("password", "DB_PASSWORD={}", "Wq7" + "$kLm2z"),
    ("password", "Server=a;Password={};Trusted=no", "Wq7" + "!kLm2z"),
    ("password", "<password>{}</password>", "Wq7" + "!kLm2z"),
    ("password", 'password: str = "{}"', "Wq7" + "!kLm2z"),
    ("secret", "client_secret: {}", signs(40)),
    ("secret", "  aws_secret_access_key = {}\r", signs(20) + "/" + signs(19)),
    ("secret", '"api_key": "{}",', hexadecimal(32)),
    ("secret", "const apiKey = `{}`;", signs(24)),
    ("secret", "api-key => '{}'", signs(24)),
    ("secret", "export SESSION_TOKEN={} # of today", signs(30)),
    ("secret", "//registry/:_authToken={}", "3fa94c07-be15-4268-8d1e-77a0c35b9e42"),
    ("authorization", "Authorization: Bearer {}", signs(40)),
    ("authorization", '"Authorization": "Basic {}"', signs(26) + "=="),
]


@pytest.mark.parametrize(("kind", "around", "secret"), FORMATS + GUESSES)
def test_a_secret_is_masked_and_nothing_else(kind: str, around: str, secret: str) -> None:
    text = f"first\n{around.format(secret)}\nlast\n"

    expected = f"first\n{around.format(f'«masked: {kind}»')}\nlast\n"
    assert mask(text) == MaskedText(expected, (kind,))


@pytest.mark.parametrize("name", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])
@pytest.mark.parametrize("line_end", ["\n", "\r\n"])
def test_each_line_of_a_private_key_is_masked(name: str, line_end: str) -> None:
    text = line_end.join(("before", key_block(name, line_end), "after", ""))

    expected = line_end.join(("before", *["«masked: private key»"] * 6, "after", ""))
    assert mask(text) == MaskedText(expected, ("private key",))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        pytest.param(
            '{"key": "' + key_block(line_end="\\n") + '\\n"}',
            '{"key": "«masked: private key»\\n"}',
            id="escaped",
        ),
        pytest.param(
            "  key: |\n" + key_block(before="    ") + "\nnext: 1",
            "  key: |\n" + "    «masked: private key»\n" * 6 + "next: 1",
            id="indented",
        ),
        pytest.param(
            "\n".join(key_block().split("\n")[2:]) + "\nnext",
            "«masked: private key»\n" * 4 + "next",
            id="beginning cut off",
        ),
        pytest.param(key_block(line_end="\\n")[30:] + "'", "«masked: private key»'", id="escaped, beginning cut off"),
        pytest.param(
            "\n".join(key_block().split("\n")[:3]) + "\n\n# next",
            "«masked: private key»\n" * 3 + "\n# next",
            id="end cut off",
        ),
    ],
)
def test_private_keys_in_other_texts(text: str, expected: str) -> None:
    assert mask(text).text == expected


def test_a_key_in_source_code_is_masked() -> None:
    lines = key_block().split("\n")
    text = "KEY = (\n" + "".join(f'    "{line}\\n"\n' for line in lines) + ")\n"

    masked = mask(text)

    assert not any(line in masked.text for line in lines)
    assert masked.text.count("\n") == text.count("\n")
    assert masked.text.startswith("KEY = (\n") and masked.text.endswith(")\n")


ORDINARY = [
    'password = "password"',
    'password = "changeme123!"',
    "password = get_password(user)",
    "password: String,",
    'token = "next_token"',
    "token = self.lexer.next_token2()",
    "secret = os.environ['APP_SECRET_2024']",
    'api_key = "YOUR_API_KEY_HERE_1"',
    'password="${DB_PASSWORD_1}"',
    "secret_name = 'my-service-config-v2-primary'",
    "TOKEN_PATTERN = r'[a-z]+'",
    'throw new Error("invalid token: expected identifier1")',
    "https://user:password@example.com/",
    "https://user:pass@host/",
    "http://localhost:8080/@scope/package",
    "postgres://user:${PASSWORD}@host/db",
    "git@github.com:owner/name.git",
    "Authorization: Bearer <token>",
    "class sk-loading-spinner-with-a-long-name",
    "task-" + "a" * 40,
    "sha512-" + signs(86) + "==",
    "commit = '" + hexadecimal(40) + "'",
    'if text.startswith("-----BEGIN ' + _KEY + '"):\n    raise ValueError("no key")\nend = "-----END ' + _KEY + '"',
    "-----BEGIN CERTIFICATE-----\n" + signs(64) + "\n-----END CERTIFICATE-----",
    "«masked: password»",
    "password = «masked: password»",
    "",
]


@pytest.mark.parametrize("text", ORDINARY)
def test_ordinary_text_stays(text: str) -> None:
    assert mask(text) == MaskedText(text, ())


def test_kinds_are_sorted_and_every_secret_is_counted() -> None:
    stripe, github = "sk" + "_live_" + signs(24), "gh" + "p_" + signs(36)

    masked = mask(f"{stripe} {github}\n{stripe}")

    assert masked.text.count("masked: ") == 3
    assert masked.kinds == ("GitHub token", "Stripe key")


def test_a_secret_of_a_known_format_keeps_its_kind_behind_a_name() -> None:
    assert mask('password = "' + "gh" + "p_" + signs(36) + '"').kinds == ("GitHub token",)


def test_secrets_that_overlap_leave_no_rest() -> None:
    inner = "gh" + "p_" + signs(40)

    assert mask(f"https://ci:x9-{inner}@host.org").text == "https://ci:«masked: URL password»@host.org"


def test_letters_that_grow_in_lower_case_move_nothing() -> None:
    assert mask(f"İİİ api_key = '{signs(24)}'").text == "İİİ api_key = '«masked: secret»'"


PIECES = st.sampled_from(
    [text.format(secret) for _, text, secret in FORMATS + GUESSES]
    + [key_block(), key_block(line_end="\r\n"), *key_block().split("\n"), *ORDINARY]
    + ["password", "=", ": ", '"', "\n", "\r\n", "\r", "\v", "\u2028", "«", "»", "\\n", "-", "İ", "\ud800"]
)
TEXTS = st.lists(st.one_of(PIECES, st.text(max_size=20)), max_size=12).map("".join)


@settings(max_examples=100)
@given(text=TEXTS)
def test_lines_stay_lines_and_a_masked_text_stays(text: str) -> None:
    masked = mask(text)

    assert len(masked.text.splitlines()) == len(text.splitlines())
    assert masked.text.count("\n") == text.count("\n")
    assert (masked.text == text) == (not masked.kinds)
    assert mask(masked.text) == MaskedText(masked.text, ())


@settings(max_examples=50)
@given(text=st.text(alphabet=st.characters(blacklist_characters="=:@>,"), max_size=200))
def test_text_without_anything_assigned_is_unchanged(text: str) -> None:
    assert mask(text).text == text
