"""The weights of the ranking. Written by `python -m training.ranking`; see docs/ranking.md."""

from typing import Final

WEIGHTS: Final = {
    "lexical": 0.359,
    "vector": 0.891,
    "nearest": 0.465,
    "definition": 1.962,
    "frame": 4.0,
    "words": 1.274,
    "names": 0.499,
    "name_share": 0.613,
    "stem": 0.442,
    "stem_share": 1.563,
    "folder_share": 1.264,
    "stem_inside": 1.151,
    "file_words": 1.086,
    "file_lexical": 0.978,
    "file_vector": 0.901,
    "file": 0.855,
    "file_size": 1.824,
    "depth": -1.513,
    "test": -1.767,
    "prose": -2.286,
    "declaration": -2.849,
}
