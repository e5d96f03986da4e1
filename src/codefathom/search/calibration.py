"""What the confidence is calculated with. Written by `python -m training.confidence`."""

from typing import Final

MODEL: Final = "fathom-static-1:6445aaf6"  # whose cosines WITH_MEANING was learned with
WITH_MEANING: Final = {"score": 5.72, "words": 1.45, "near": 10.09, "unknown": -0.80, "offset": -7.42}
WITHOUT: Final = {"score": 10.28, "words": 1.77, "unknown": -1.43, "offset": -5.50}
