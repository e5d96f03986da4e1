"""The weights of the ranking. Written by `python -m training.ranking`; see docs/ranking.md."""

from typing import Final

WEIGHTS: Final = {
    "lexical": 0.1,
    "vector": 0.731,
    "nearest": 1.02,
    "definition": 1.795,
    "only": 4.232,
    "frame": 8.0,
    "words": 1.061,
    "names": 0.392,
    "name_share": 0.672,
    "stem_share": 1.835,
    "folder_share": 1.195,
    "stem_inside": 1.399,
    "file_words": 0.954,
    "file_lexical": 1.287,
    "file_several": 5.0,
    "file_vector": 0.992,
    "file": 0.939,
    "file_size": 1.71,
    "depth": -1.439,
    "test": -1.864,
    "prose": -2.234,
    "declaration": -2.818,
}
