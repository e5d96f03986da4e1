"""Versions of the stages, kept with every document: a stage that changes makes only its own work outdated.

They stand apart from the stages so that a search, which compares them, need not import a parser.
"""

from __future__ import annotations

# Grows with every change of a parser or query that changes what is found.
PARSER_VERSION = "11"
# Grows with every change of where documents are cut.
CHUNKER_VERSION = "syntax/4"
# Grows with every change of which secrets are found: what was kept in the index before is masked then.
SECRETS_VERSION = "2"
# Grows with every change of the text that is taken out of PDF and Word files and notebooks, or of which are refused.
EXTRACTION_VERSION = "1"
# Grows when the same files give other links of imports, uses that mean something else, or another map: these are kept
# beside the catalogue.
CONNECTIONS_VERSION = "2"
