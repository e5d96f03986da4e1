"""What the confidence is calculated with. Written by `python -m training.confidence`."""

from typing import Final

MODEL: Final = "fathom-static-1:07a79ad1"  # whose cosines WITH_MEANING was learned with
WITH_MEANING: Final = {"score": 5.46, "words": 1.44, "near": 9.55, "unknown": -0.77, "offset": -7.54}
WITHOUT: Final = {"score": 10.83, "words": 1.94, "unknown": -1.40, "offset": -5.79}
