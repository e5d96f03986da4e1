"""The weights of the confidence. Written by `python -m training.confidence`."""

from typing import Final

MODEL: Final = "fathom-static-1:07a79ad1"  # whose cosines were learned with
# By kind of text, and whether these cosines are there.
CALIBRATIONS: Final = {
    ("short", True): {
        "score": 5.17,
        "words": 0.29,
        "unknown": -2.00,
        "defines": 2.05,
        "foreign": -1.87,
        "size": -0.60,
        "near": 11.23,
        "offset": -1.90,
    },
    ("short", False): {
        "score": 11.00,
        "words": 0.18,
        "unknown": -3.16,
        "defines": 2.17,
        "foreign": -1.53,
        "size": -0.50,
        "offset": -0.18,
    },
    ("long", True): {
        "score": 10.61,
        "words": 1.35,
        "unknown": -4.25,
        "defines": 1.79,
        "foreign": -1.99,
        "size": -0.62,
        "near": 11.73,
        "offset": -2.19,
    },
    ("long", False): {
        "score": 16.49,
        "words": 2.10,
        "unknown": -7.03,
        "defines": 2.09,
        "foreign": -1.94,
        "size": -0.64,
        "offset": 2.25,
    },
}
