"""The weights of the ranking. Written by `python -m training.ranking`; see docs/ranking.md."""

from typing import Final

WEIGHTS: Final = {
    "lexical": 0.102,
    "vector": 0.774,
    "nearest": 0.872,
    "definition": 1.75,
    "only": 4.256,
    "frame": 8.0,
    "words": 1.142,
    "names": 0.383,
    "name_share": 0.758,
    "stem_share": 1.782,
    "folder_share": 1.172,
    "stem_inside": 1.344,
    "file_words": 0.957,
    "file_lexical": 1.149,
    "file_several": 5.0,
    "file_vector": 1.128,
    "file": 0.941,
    "file_size": 1.655,
    "depth": -1.462,
    "test": -1.852,
    "prose": -2.183,
    "declaration": -2.779,
}
