"""The weights of the confidence. Written by `python -m training.confidence`."""

from typing import Final

MODEL: Final = "fathom-static-1:07a79ad1"  # whose cosines WITH_MEANING was learned with
WITH_MEANING: Final = {"score": 4.89, "words": 1.15, "near": 9.99, "unknown": -0.93, "offset": -7.17}
WITHOUT: Final = {"score": 10.49, "words": 1.49, "unknown": -1.57, "offset": -5.22}
