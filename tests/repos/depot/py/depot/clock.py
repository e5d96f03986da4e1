from __future__ import annotations

import time


def hour() -> int:
    """The hour of the warehouse: no daylight saving, which would give an hour twice."""
    return time.gmtime().tm_hour
