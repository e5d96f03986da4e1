"""The weights of the confidence. Written by `python -m training.confidence`."""

from typing import Final

MODEL: Final = "fathom-static-1:07a79ad1"  # whose cosines WITH_MEANING was learned with
WITH_MEANING: Final = {"score": 5.37, "words": 1.34, "near": 9.79, "unknown": -0.87, "offset": -7.46}
WITHOUT: Final = {"score": 10.66, "words": 1.85, "unknown": -1.52, "offset": -5.57}
