"""The weights of the confidence. Written by `python -m training.confidence`."""

from typing import Final

MODEL: Final = "fathom-static-1:07a79ad1"  # whose cosines were learned with
# By kind of text, and whether these cosines are there.
CALIBRATIONS: Final = {
    ("short", True): {
        "score": 5.33,
        "words": 0.59,
        "unknown": -1.86,
        "defines": 2.12,
        "foreign": -1.84,
        "size": -0.61,
        "near": 11.22,
        "offset": -2.19,
    },
    ("short", False): {
        "score": 11.51,
        "words": 0.64,
        "unknown": -2.95,
        "defines": 2.27,
        "foreign": -1.51,
        "size": -0.52,
        "offset": -0.71,
    },
    ("long", True): {
        "score": 10.41,
        "words": 1.37,
        "unknown": -4.24,
        "defines": 1.80,
        "foreign": -2.00,
        "size": -0.62,
        "near": 11.74,
        "offset": -2.18,
    },
    ("long", False): {
        "score": 16.18,
        "words": 2.11,
        "unknown": -7.03,
        "defines": 2.10,
        "foreign": -1.94,
        "size": -0.64,
        "offset": 2.30,
    },
}
