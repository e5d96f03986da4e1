"""The weights of the ranking. Written by `python -m training.ranking`; see docs/ranking.md."""

from typing import Final

WEIGHTS: Final = {
    "lexical": 0.1,
    "vector": 0.446,
    "vector_rank": 0.774,
    "definition": 1.689,
    "symbol_only": 5.905,
    "frame": 8.0,
    "words": 0.767,
    "names": 1.017,
    "name_share": 0.144,
    "test": -1.83,
    "test_for_issue": -2.5,
    "data": -1.2,
    "stem_share": 1.922,
    "folder_share": 1.065,
    "stem_inside": 1.643,
    "named_file": 3.0,
    "file_words": 1.443,
    "file_lexical": 1.471,
    "file_several": 5.0,
    "file_vector": 1.303,
    "file_share": 1.018,
    "file_size": 1.585,
    "depth": -1.876,
    "prose": -2.24,
    "prose_for_issue": -2.0,
    "declaration": -2.82,
    "legacy": -1.8,
}
