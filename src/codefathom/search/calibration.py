"""What the confidence is calculated with. Written by `python -m training.confidence`."""

from typing import Final

MODEL: Final = "fathom-static-1:6445aaf6"  # whose cosines WITH_MEANING was learned with
WITH_MEANING: Final = {"score": 7.29, "words": 1.20, "near": 8.78, "unknown": -0.89, "offset": -7.43}
WITHOUT: Final = {"score": 11.62, "words": 1.39, "unknown": -1.51, "offset": -5.75}
