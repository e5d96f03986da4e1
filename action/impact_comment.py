"""Write a file as a comment on the pull request of this run of GitHub Actions, or renew the one that is there.

    python3 impact_comment.py FILE

Needs GITHUB_API_URL, GITHUB_REPOSITORY and GITHUB_EVENT_PATH, as the runner sets them, and TOKEN. Without permission to
write, as in pull requests from a fork, it says so and ends well: the summary of the run has the same text.
"""

from __future__ import annotations

import json
import os
import sys
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any

MARK = "<!-- codefathom impact -->"
MOST_CHARACTERS = 65_000  # GitHub takes 65,536
MOST_PAGES = 30  # of 100 comments


def ask(method: str, address: str, body: object = None) -> Any:
    """Return the answer of the host. Raises urllib.error.HTTPError."""
    request = urllib.request.Request(address, method=method)
    request.add_header("Authorization", f"Bearer {os.environ['TOKEN']}")
    request.add_header("Accept", "application/vnd.github+json")
    if body is not None:
        request.data = json.dumps(body).encode()
        request.add_header("Content-Type", "application/json")
    with urllib.request.urlopen(request, timeout=60) as answer:
        return json.load(answer)


def own_comment(comments: str) -> int | None:
    """Return the number of the comment that was written before, None without one."""
    for page in range(1, MOST_PAGES + 1):
        some = ask("GET", f"{comments}?per_page=100&page={page}")
        for comment in some:
            if comment["body"].startswith(MARK) and comment["user"]["type"] == "Bot":
                return int(comment["id"])
        if len(some) < 100:
            break
    return None


def main(file: str) -> int:
    """Write the comment."""
    event = json.loads(Path(os.environ["GITHUB_EVENT_PATH"]).read_text(encoding="utf-8"))
    issues = f"{os.environ['GITHUB_API_URL']}/repos/{os.environ['GITHUB_REPOSITORY']}/issues"
    text = Path(file).read_text(encoding="utf-8")
    cut = text if len(text) <= MOST_CHARACTERS else f"{text[:MOST_CHARACTERS].rpartition(chr(10))[0]}\n\n… cut here."
    body = {"body": f"{MARK}\n{cut}"}
    comments = f"{issues}/{int(event['pull_request']['number'])}/comments"
    try:
        number = own_comment(comments)
        if number is None:
            ask("POST", comments, body)
        else:
            ask("PATCH", f"{issues}/comments/{number}", body)
    except urllib.error.HTTPError as error:
        if error.code not in (401, 403):
            raise
        sys.stdout.write(f"::warning::the comment was not written, because the token may not write ({error.code})\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
