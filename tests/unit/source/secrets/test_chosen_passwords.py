"""What a name such as PASSWORD is given is a secret, whatever it looks like; tokens of bots in addresses; two pieces.

No example stands here whole, so that no scanner takes this file for a leak.
"""

from __future__ import annotations

import pytest

from codefathom.source.secrets import MASK, blank, find, mask

SIGNS = "aB3dE5gH7jK9mN2pQ4sT6vW8xY1zC0fR"
UUID = "3fa94c07-be15-4268-8d1e-77a0c35b9e42"
WORD, DASHED = "winter" + "fell", "correct-horse" + "-battery"
FIRST, SECOND = "gh" + "p_" + SIGNS[:16], SIGNS[:20]

# Path, text in which "{}" stands for the secret, secret.
PASSWORDS = [
    ("a.py", 'PASSWORD = "{}"', DASHED),
    ("a.py", "PASSWORD = '{}'", WORD),
    ("a.py", 'db_password = "{}"', "orange"),
    ("a.py", 'DB_PASSWORD: Final[str] = "{}"', WORD),
    ("a.py", 'connect(user="app", password="{}")', WORD),
    ("a.py", 'config["password"] = "{}"', WORD),
    ("a.py", 'if password == "{}":', WORD),
    ("a.py", 'PASSPHRASE = "{}"', "the quick " + "brown fox"),
    ("a.ts", 'const dbPassword = "{}";', "my-dog" + "-rex-2041"),
    ("a.ts", '{{ user: "app", password: "{}" }}', "my-dog" + "-rex"),
    ("a.json", '{{"password": "{}"}}', "purple-" + "monkey"),
    ("a.java", 'String password = "{}";', WORD),
    ("a.java", 'source.setPassword("{}");', WORD),
    ("a.go", 'password := "{}"', WORD),
    ("a.rb", ":password => '{}'", WORD),
    ("a.php", "define('DB_PASSWORD', '{}');", WORD),
    ("a.php", "$password = '{}';", WORD),
    ("a.yml", "password: '{}'", DASHED),
    ("a.yml", "  password: {}", WORD),
    ("docker-compose.yml", "      - MYSQL_ROOT_PASSWORD={}", WORD),
    ("a.properties", "spring.datasource.password={}", WORD),
    ("app.ini", "password = {}  ; of the database", WORD),
    ("Dockerfile", "ENV MYSQL_ROOT_PASSWORD {}", WORD),
    ("pom.xml", "<password>{}</password>", WORD),
    ("web.config", '<add key="password" value="{}"/>', WORD),
    ("a.py", 'SECRET_KEY = "{}"', "dev-only" + "-of-mine"),
    ("a.py", 'SECRET = "{}"', "shibbo" + "leth"),
    ("a.py", 'CLIENT_SECRET = "{}"', "open-sesame" + "-forty"),
]
ADDRESSES = [
    ("https://api.telegram.org/bot{}/sendMessage", "8265903147:BB" + SIGNS + "x"),
    ("https://api.telegram.org/file/bot{}/a.jpg", "8265903147:AA" + SIGNS + "x"),
    ("https://hooks.slack-gov.com/services/{}", "T0" + "ABC/B0DEF/" + SIGNS[:24]),
    ("https://outlook.office.com/{}", f"webhook/{UUID}@{UUID}/IncomingWebhook/{SIGNS}/{UUID}"),
    ("https://prod-1.logic.azure.com:443/workflows/1/triggers/x?sp=%2Frun&sig={}", SIGNS + SIGNS[:11]),
    ("https://hooks.zapier.com/hooks/catch/{}/", "1234567/" + "abc12de"),
    ("https://maker.ifttt.com/trigger/x/with/key/{}", SIGNS[:22]),
    ("https://chat.acme.io/hooks/{}", "3fa94c07be1542688d1e77a0c3"),
    ("otpauth://totp/ACME:bob@acme.io?secret={}&issuer=ACME", "JBSWY3DP" + "EHPK3PXP"),
    ("otpauth://totp/ACME?issuer=ACME&secret={}", "JBSWY3DP" + "EHPK3PXP"),
    ("otpauth://hotp/x?secret={}&counter=1", "gezdgnbv" + "gy3tqojq"),
    ("otpauth-migration://offline?data={}", "CjEKCkhlbGxvId6tvu8SGEV4YW1wbGU6YWxpY2VA"),
]
# What stands around two pieces of a token.
PIECES = [
    ("a.py", 'X = "{}" \\\n    "{}"'),
    ("a.py", 'T = "{}" + "{}"'),
    ("a.py", "T = '{}' '{}'"),
    ("a.py", 'T = f"{}" f"{}"'),
    ("a.py", 'T = (\n    "{}"  # the first half\n    "{}"\n)'),
    ("a.js", 'const T = "{}" +\n  "{}";'),
    ("a.php", "$t = '{}' . '{}';"),
    ("a.c", 'char *t = "{}"\n          "{}";'),
    ("a.sh", "T={}\\\n{}\n"),
    ("a.yml", "token: >-\n  {}\n  {}\nnext: 1\n"),
    ("a.yml", "token: |\n  {}\n  {}\nnext: 1\n"),
    ("a.yml", 'token: "{}\\\n  {}"\nnext: 1\n'),
    ("a.toml", 'token = """\\\n  {}\\\n  {}"""\n'),
]
ORDINARY = [
    ("a.py", 'TYPE_SECRET = "opaque"'),
    ("a.py", 'secret = "opaque"'),
    ("a.py", 'password = "password"'),
    ("a.py", 'PASSWORD = "PASSWORD"'),
    ("a.py", 'password = ""'),
    ("a.py", 'password = "changeme"'),
    ("a.py", 'password = "<password>"'),
    ("a.py", 'password = "${DB}"'),
    ("a.py", 'password = f"{value}"'),
    ("a.py", 'password = os.environ["DB"]'),
    ("a.py", 'password: "str" = ""'),
    ("a.py", 'def login(password: "Optional[str]" = None) -> None:'),
    ("a.py", 'password = getpass("Again: ")'),
    ("a.py", 'password_field = "login"'),
    ("a.py", 'password_error = "wrong"'),
    ("a.py", 'raise ValueError("wrong password", "again")'),
    ("a.py", 'fields = ["user", "password", "email"]'),
    ("a.py", "message = \"the password is 'not shown' here\""),
    ("a.py", 'parser.add_argument("--password", help="of the user")'),
    ("a.py", "PASSWORD = 'forms.labels.pw'"),
    ("a.py", 'password = "must not be empty"'),
    ("a.py", 'SECRET = "secret"'),
    ("a.ts", 'password: "string"'),
    ("a.ts", 'input({ type: "password", password: "required" })'),
    ("a.ts", "password: 'Passwort'"),
    ("a.ts", 'autocomplete: { password: "current-password" }'),
    ("a.html", '<input name="password" type="password" autocomplete="off">'),
    ("a.html", "<label>Password</label><input>"),
    ("a.yml", "password: string"),
    ("a.yml", "password: true"),
    ("a.yml", "password: ${DB_PASSWORD}"),
    ("a.yml", "password: !vault key"),
    ("a.yml", "password:\n  type: string"),
    ("a.yml", "secret: db-credentials"),
    ("config/locales/de.yml", "password: Geheimwort"),
    ("src/i18n/en.json", '{"password": "Watchword"}'),
    ("a.md", "password: the word that opens the door"),
    ("a.txt", "otpauth://totp/Label?secret=SECRET&issuer=Issuer"),
    ("a.txt", "otpauth://totp/Label?secret={secret}&issuer=Issuer"),
    ("a.txt", "https://api.telegram.org/bot<token>/sendMessage"),
    ("a.py", 'T = "ghp_" + token + "rest"'),
    ("a.yml", "names:\n  ghp_first\n  second\n"),
]


@pytest.mark.parametrize(("path", "around", "secret"), PASSWORDS)
def test_a_chosen_password_is_masked_and_nothing_else(path: str, around: str, secret: str) -> None:
    text = f"first\n{around.format(secret)}\nlast\n"

    assert blank(text, path) == text.replace(secret, "".join(" " if sign == " " else MASK for sign in secret))


@pytest.mark.parametrize(("around", "secret"), ADDRESSES)
def test_a_token_in_an_address_is_masked_and_nothing_else(around: str, secret: str) -> None:
    text = f'URL = "{around.format(secret)}"\n'

    assert blank(text, "a.py") == text.replace(secret, MASK * len(secret))


@pytest.mark.parametrize(("path", "around"), PIECES)
def test_both_pieces_of_a_token_are_masked(path: str, around: str) -> None:
    kept = blank(around.format(FIRST, SECOND), path)

    assert kept == around.format(MASK * len(FIRST), MASK * len(SECOND))


@pytest.mark.parametrize(("path", "text"), ORDINARY)
def test_ordinary_text_stays(path: str, text: str) -> None:
    assert find(text, path) == [], mask(text, path).text
