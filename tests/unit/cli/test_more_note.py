"""The note that a list goes on."""

import pytest

from codefathom.cli.token_budget import more_note
from codefathom.types import Rest


@pytest.mark.parametrize(
    ("rest", "note"),
    [
        (Rest(0), ""),
        (Rest(1), "1 more hit; --offset 10 shows the next one"),
        (Rest(1, is_exact=False), "at least 1 more hit; --offset 10 shows the next one"),
        (Rest(1200), "1,200 more hits; --offset 10 shows the next ones"),
        (Rest(0, is_exact=False), "maybe some more hits; --offset 10 shows the next ones"),
    ],
)
def test_a_list_that_goes_on_says_so(rest: Rest, note: str) -> None:
    assert more_note(rest, 10, "hits") == note
