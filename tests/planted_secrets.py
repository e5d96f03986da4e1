"""A repository with secrets at every place that a tool for agents shows, and all calls that could show one."""

from __future__ import annotations

import os
import random
import string
import subprocess
from pathlib import Path
from typing import Any

from tests.waiting import LONG_S

_BASE64 = string.ascii_letters + string.digits + "+/"
KEY = ["".join(random.Random(line).choices(_BASE64, k=64)) for line in range(34)]
IN_CODE = "ghp_" + "a1B2" * 9
IN_COMMENT = "AKIAZ7Q4M2XV6TRB3PLW"
IN_CALL = "sk-proj-Zx81kQw93LmNv72TgHs6bRt5"
IN_SIGNATURE = "hG7kQ2-mule-staple-4Zt9"
IN_PATH = "ghp_" + "c3D4" * 9
IN_COMMIT = "ghp_" + "e5F6" * 9
IN_DIFF = "ghp_" + "g7H8" * 9
IN_NEW_NAME = "ghp_" + "i9J0" * 9
IN_ARGUMENT = "ghp_" + "k1L2" * 9
SECRETS = (*(*KEY, IN_CODE, IN_COMMENT, IN_CALL, IN_SIGNATURE, IN_PATH, IN_COMMIT, IN_DIFF, IN_NEW_NAME, IN_ARGUMENT),)

_HEAD = '"""How the price of an order is signed."""\n\n'
SIGNING = (
    f'{_HEAD}KEY = """-----BEGIN RSA PRIVATE KEY-----\n'
    + "\n".join(KEY)
    + '\n-----END RSA PRIVATE KEY-----\n"""\n'
    + f'TOKEN = "{IN_CODE}"\n'
    + f"# the old access key was {IN_COMMENT}\n\n\n"
    + "def sign_the_order(order):\n"
    + f'    """Sign the price of an order."""\n    return client("{IN_CALL}").sign(order, KEY)\n'
)
PAYING = (
    "from signing import sign_the_order\n\n\n"
    f'def pay_the_order(order, password="{IN_SIGNATURE}"):\n    """Pay a signed order."""\n'
    "    return sign_the_order(order), password\n"
)
_IMPORT = "from paying import pay_the_order\n\n\n"
FILES = {
    "signing.py": SIGNING,
    "paying.py": PAYING,
    f"notes/{IN_PATH}.py": f"{_IMPORT}def pay_by_note(order):\n    return pay_the_order(order)\n",
    "tests/test_paying.py": f"{_IMPORT}def test_paying():\n    assert pay_the_order(1)\n",
    "README.md": "# Orders\n\nThe price of an order is signed and paid.\n",
}
DIFF = f"""\
--- a/paying.py
+++ b/paying.py
@@ -4,3 +4,7 @@
 def pay_the_order(order, password="{IN_SIGNATURE}"):
     \"\"\"Pay a signed order.\"\"\"
-    return sign_the_order(order), password
+    return sign_the_order(order), password, "{IN_DIFF}"
+
+
+def {IN_NEW_NAME}(order):
+    return order
--- /dev/null
+++ b/{IN_NEW_NAME}.bin
@@ -0,0 +1,1 @@
+data
"""

# Calls of tools, each with the words that its result must hold: an empty answer shows no secret either.
CALLS: tuple[tuple[str, dict[str, Any], str], ...] = (
    ("search", {"query": "how is the price of an order signed"}, "signing.py"),
    ("search", {"query": "sign_the_order", "mode": "symbol"}, "sign_the_order"),
    ("search", {"query": "TOKEN = ", "mode": "regex"}, "TOKEN"),
    ("search", {"query": "old access key", "level": "file", "max_tokens": 20_000}, "signing.py"),
    ("search", {"query": "pay the order with a password", "level": "symbol"}, "pay_the_order"),
    ("search", {"query": f"price of an order {IN_ARGUMENT}"}, ""),
    ("read", {"path": "signing.py", "max_tokens": 20_000}, "sign_the_order"),
    ("read", {"path": "signing.py:8-12"}, "signing.py"),  # the first line of the key lies above
    ("read", {"path": "signing.py:30-41"}, "TOKEN"),
    ("read", {"path": "paying.py"}, "pay_the_order"),
    ("read", {"path": f"notes/{IN_PATH}.py"}, "pay_by_note"),
    ("read", {"path": f"no/{IN_ARGUMENT}.py"}, "no such file"),
    ("read", {"path": "signing.py:900-901"}, "line"),
    ("read", {"path": f"notes/{IN_PATH}.py:70-71"}, "line"),
    ("related", {"target": "signing.py"}, "paying.py"),
    ("related", {"target": "paying.py"}, "pay"),
    ("related", {"target": "@@pay_the_order"}, "pay_by_note"),
    ("related", {"target": f"@@{IN_ARGUMENT}"}, ""),
    ("related", {"diff": DIFF}, "pay_the_order"),
    ("map", {"max_tokens": 4_000}, "paying.py"),
    ("map", {"query": "pay an order", "max_tokens": 4_000}, "paying.py"),
    ("map", {"files": [f"notes/{IN_ARGUMENT}.py"]}, ""),
    ("search", {"query": "price", "projects": [IN_ARGUMENT]}, ""),
    ("search", {"query": "price", "mode": IN_ARGUMENT}, ""),
    ("search", {"query": "price", IN_ARGUMENT: 1}, ""),
)


def plant(root: Path) -> None:
    """Write the files, and a history whose messages hold a secret."""
    for path, text in FILES.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)
    who = {f"GIT_{role}_{what}": "a@b.c" for role in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")}
    for words in (["init", "-q"], ["add", "."], ["commit", "-q", "-m", f"Pay with {IN_COMMIT}"]):
        subprocess.run(["git", *words], cwd=root, env={**os.environ, **who}, check=True, timeout=LONG_S)


def shown(text: str) -> list[str]:
    """Return the secrets that a text holds."""
    return [secret for secret in SECRETS if secret in text]
