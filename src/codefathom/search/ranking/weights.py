"""The weights of the ranking. Written by `python -m training.ranking`; see docs/ranking.md."""

from typing import Final

WEIGHTS: Final = {
    "lexical": 0.1,
    "vector": 0.574,
    "vector_rank": 0.864,
    "definition": 1.682,
    "symbol_only": 6.018,
    "frame": 8.0,
    "words": 1.025,
    "names": 1.147,
    "name_share": 0.13,
    "test": -1.83,
    "test_for_issue": -2.5,
    "stem_share": 1.891,
    "folder_share": 1.042,
    "stem_inside": 1.641,
    "named_file": 3.0,
    "file_words": 1.331,
    "file_lexical": 1.468,
    "file_several": 5.0,
    "file_vector": 1.187,
    "file_share": 0.912,
    "file_size": 1.504,
    "depth": -1.894,
    "prose": -2.24,
    "prose_for_issue": -2.0,
    "declaration": -2.82,
    "legacy": -1.8,
}
