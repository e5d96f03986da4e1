"""The weights of the ranking. Written by `python -m training.ranking`; see docs/ranking.md."""

from typing import Final

WEIGHTS: Final = {
    "lexical": 0.566,
    "vector": 1.057,
    "nearest": 0.3,
    "definition": 1.703,
    "only": 4.273,
    "frame": 8.0,
    "words": 1.186,
    "names": 0.36,
    "name_share": 0.599,
    "stem_share": 2.088,
    "folder_share": 1.179,
    "stem_inside": 1.164,
    "file_words": 1.028,
    "file_lexical": 0.977,
    "file_several": 5.0,
    "file_vector": 0.989,
    "file": 0.984,
    "file_size": 1.791,
    "depth": -1.485,
    "test": -1.918,
    "prose": -2.171,
    "declaration": -2.819,
}
