"""The weights of the ranking. Written by `python -m training.ranking`; see docs/ranking.md."""

from typing import Final

WEIGHTS: Final = {
    "lexical": 0.1,
    "vector": 0.721,
    "vector_rank": 1.018,
    "definition": 1.789,
    "symbol_only": 4.229,
    "frame": 8.0,
    "words": 1.067,
    "names": 0.397,
    "name_share": 0.68,
    "test": -1.832,
    "test_for_issue": -2.5,
    "stem_share": 1.842,
    "folder_share": 1.196,
    "stem_inside": 1.393,
    "named_file": 3.0,
    "file_words": 0.945,
    "file_lexical": 1.284,
    "file_several": 5.0,
    "file_vector": 0.997,
    "file_share": 0.937,
    "file_size": 1.723,
    "depth": -1.44,
    "prose": -2.243,
    "prose_for_issue": -2.0,
    "declaration": -2.816,
    "legacy": -1.8,
}
