"""The weights of the confidence. Written by `python -m training.confidence`."""

from typing import Final

MODEL: Final = "fathom-static-1:07a79ad1"  # whose cosines were learned with
# By kind of text, and whether these cosines are there.
CALIBRATIONS: Final = {
    ("short", True): {
        "score": 5.23,
        "words": 0.28,
        "unknown": -2.00,
        "defines": 2.03,
        "foreign": -1.87,
        "size": -0.60,
        "near": 11.23,
        "offset": -1.92,
    },
    ("short", False): {
        "score": 11.06,
        "words": 0.17,
        "unknown": -3.16,
        "defines": 2.16,
        "foreign": -1.53,
        "size": -0.50,
        "offset": -0.20,
    },
    ("long", True): {
        "score": 10.70,
        "words": 1.36,
        "unknown": -4.21,
        "defines": 1.80,
        "foreign": -2.00,
        "size": -0.62,
        "near": 11.74,
        "offset": -2.26,
    },
    ("long", False): {
        "score": 16.54,
        "words": 2.12,
        "unknown": -6.99,
        "defines": 2.09,
        "foreign": -1.94,
        "size": -0.64,
        "offset": 2.20,
    },
}
