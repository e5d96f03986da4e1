"""The weights of the confidence. Written by `python -m training.confidence`."""

from typing import Final

MODEL: Final = "fathom-static-1:07a79ad1"  # whose cosines were learned with
# By kind of text, and whether these cosines are there.
CALIBRATIONS: Final = {
    ("short", True): {
        "score": 5.30,
        "words": 0.59,
        "unknown": -1.87,
        "defines": 2.15,
        "foreign": -1.85,
        "size": -0.61,
        "near": 11.28,
        "offset": -2.19,
    },
    ("short", False): {
        "score": 11.51,
        "words": 0.66,
        "unknown": -2.96,
        "defines": 2.29,
        "foreign": -1.51,
        "size": -0.52,
        "offset": -0.72,
    },
    ("long", True): {
        "score": 5.72,
        "words": 2.69,
        "unknown": -4.13,
        "defines": 1.89,
        "foreign": -1.93,
        "size": -0.65,
        "near": 11.31,
        "offset": -1.61,
    },
    ("long", False): {
        "score": 9.24,
        "words": 4.04,
        "unknown": -6.71,
        "defines": 2.23,
        "foreign": -1.81,
        "size": -0.70,
        "offset": 2.82,
    },
}
