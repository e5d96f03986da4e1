"""The weights of the confidence. Written by `python -m training.confidence`."""

from typing import Final

MODEL: Final = "fathom-static-1:07a79ad1"  # whose cosines were learned with
# By kind of text, and whether these cosines are there.
CALIBRATIONS: Final = {
    ("short", True): {
        "score": 5.26,
        "words": 0.54,
        "unknown": -1.88,
        "defines": 2.18,
        "foreign": -1.85,
        "size": -0.61,
        "near": 11.27,
        "offset": -2.13,
    },
    ("short", False): {
        "score": 11.56,
        "words": 0.55,
        "unknown": -2.96,
        "defines": 2.33,
        "foreign": -1.52,
        "size": -0.51,
        "offset": -0.66,
    },
    ("long", True): {
        "score": 5.85,
        "words": 2.59,
        "unknown": -4.10,
        "defines": 1.90,
        "foreign": -1.95,
        "size": -0.64,
        "near": 11.32,
        "offset": -1.63,
    },
    ("long", False): {
        "score": 9.53,
        "words": 3.87,
        "unknown": -6.66,
        "defines": 2.23,
        "foreign": -1.83,
        "size": -0.69,
        "offset": 2.74,
    },
}
