"""What the confidence is calculated with. Written by `python -m training.confidence`."""

from typing import Final

MODEL: Final = "fathom-static-1:07a79ad1"  # whose cosines WITH_MEANING was learned with
WITH_MEANING: Final = {"score": 5.41, "words": 1.33, "near": 9.79, "unknown": -0.88, "offset": -7.46}
WITHOUT: Final = {"score": 10.69, "words": 1.84, "unknown": -1.52, "offset": -5.59}
