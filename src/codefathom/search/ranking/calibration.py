"""The weights of the confidence. Written by `python -m training.confidence`."""

from typing import Final

MODEL: Final = "fathom-static-1:07a79ad1"  # whose cosines were learned with
# By kind of text, and whether these cosines are there.
CALIBRATIONS: Final = {
    ("short", True): {
        "score": 4.95,
        "words": 0.60,
        "unknown": -1.63,
        "defines": 1.97,
        "foreign": -2.20,
        "size": -0.59,
        "near": 11.44,
        "offset": -2.26,
    },
    ("short", False): {
        "score": 11.35,
        "words": 0.64,
        "unknown": -2.58,
        "defines": 2.02,
        "foreign": -1.77,
        "size": -0.45,
        "offset": -1.04,
    },
    ("long", True): {
        "score": 6.61,
        "words": 4.55,
        "unknown": -2.88,
        "defines": 1.58,
        "foreign": -1.65,
        "size": -0.61,
        "near": 11.64,
        "offset": -3.14,
    },
    ("long", False): {
        "score": 10.59,
        "words": 5.99,
        "unknown": -5.45,
        "defines": 2.09,
        "foreign": -1.38,
        "size": -0.66,
        "offset": 1.24,
    },
}
