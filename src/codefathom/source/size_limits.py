"""Up to what size a file of a project is read whole, parsed, read in windows, or left out.

A file above the setting `source.max_file_bytes` is left out. Of the others, one above MAX_WHOLE_FILE_BYTES is read in
windows if it is code, and left out if not; one above MAX_TEXT_FILE_BYTES is left out if it is not code. PDF and Word
files and notebooks, whose text is taken out of them, have a limit of their own, `source.max_document_bytes`.
"""

from __future__ import annotations

# A file up to this size is read whole and parsed. A larger one is read in windows (`source/large.py`) and gets no
# symbols, because parsing would take seconds and a hundred times its size in memory. This is also the default of
# `source.max_file_bytes`: no file that a person wrote is larger (the largest among 24,000 files of 21 repositories has
# 0.45 MB). To find the encoding of a file, no more than this is read.
MAX_WHOLE_FILE_BYTES = 4_000_000

# Data and prose above this size is a dump and is skipped; code may be larger.
MAX_TEXT_FILE_BYTES = 1_000_000

# A file above MAX_WHOLE_FILE_BYTES is read in windows of this size, each up to the end of its last line.
WINDOW_BYTES = 1_000_000

# A line is never cut, so it is held whole, several times over: a large file with a longer line is skipped.
MAX_LINE_BYTES = 4_000_000

# Of an ignore file no more is read.
MAX_IGNORE_FILE_BYTES = 1_000_000

# A page behind an address that a user gives; a larger one is an error.
MAX_PAGE_BYTES = 2_000_000

# The default of `source.revision_files`: Chromium has 480,000 files, Linux 90,000.
MOST_REVISION_FILES = 500_000

# The default of `source.max_document_bytes`: pictures make most of a PDF.
MAX_DOCUMENT_BYTES = 50_000_000

# Of the text that is taken out of a document: a book of 1,000 pages has 3 million characters.
MAX_EXTRACTED_CHARS = 5_000_000
MAX_PAGES = 5_000

# Of the process that takes it out, for one document. Pdfium needs 1 s for 2,000 pages of text, and 50 MB.
MAX_EXTRACTION_CPU_S = 60
# Of all documents of a run together, in each process that reads files: so long may they take beyond two seconds each.
# After that the two seconds are all that each gets, so that thousands that take a minute do not take days.
MAX_SLOW_EXTRACTION_CPU_S = 600
USUAL_EXTRACTION_CPU_S = 2
# Of a picture of one page: those of a scanned book take 0.2 s.
MAX_PICTURE_CPU_S = 5
# Memory beyond what the process has when a document has come. First each gets little, as several may be read at once;
# one for which that is not enough is read again, with more, and one at a time on the whole machine.
USUAL_EXTRACTION_MEMORY_BYTES = 100_000_000
MAX_EXTRACTION_MEMORY_BYTES = 320_000_000

# Of the archive that a Word document is: real ones have some dozen parts, and XML shrinks to a tenth.
MAX_PARTS = 5_000
MAX_UNPACKED_BYTES = 200_000_000
MAX_UNPACKED_RATIO = 200
