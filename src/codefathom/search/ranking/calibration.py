"""The weights of the confidence. Written by `python -m training.confidence`."""

from typing import Final

MODEL: Final = "fathom-static-1:07a79ad1"  # whose cosines were learned with
# By kind of text, and whether these cosines are there.
CALIBRATIONS: Final = {
    ("short", True): {
        "score": 5.26,
        "words": 0.54,
        "unknown": -1.90,
        "defines": 2.19,
        "foreign": -1.84,
        "size": -0.60,
        "near": 11.26,
        "offset": -2.21,
    },
    ("short", False): {
        "score": 11.54,
        "words": 0.55,
        "unknown": -2.99,
        "defines": 2.34,
        "foreign": -1.51,
        "size": -0.50,
        "offset": -0.72,
    },
    ("long", True): {
        "score": 5.86,
        "words": 2.61,
        "unknown": -4.10,
        "defines": 1.90,
        "foreign": -1.95,
        "size": -0.63,
        "near": 11.31,
        "offset": -1.71,
    },
    ("long", False): {
        "score": 9.55,
        "words": 3.89,
        "unknown": -6.66,
        "defines": 2.23,
        "foreign": -1.83,
        "size": -0.68,
        "offset": 2.67,
    },
}
