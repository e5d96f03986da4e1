"""The weights of the ranking. Written by `python -m training.ranking`; see docs/ranking.md."""

from typing import Final

WEIGHTS: Final = {
    "lexical": 0.1,
    "vector": 0.704,
    "vector_rank": 0.857,
    "definition": 1.651,
    "symbol_only": 5.914,
    "frame": 8.0,
    "words": 1.46,
    "names": 1.549,
    "name_share": 0.147,
    "test": -2.462,
    "stem_share": 1.794,
    "folder_share": 1.129,
    "stem_inside": 1.473,
    "file_words": 1.058,
    "file_lexical": 1.405,
    "file_several": 5.0,
    "file_vector": 1.28,
    "file_share": 0.817,
    "file_size": 1.867,
    "depth": -1.762,
    "prose": -3.133,
    "declaration": -3.725,
}
