// Written by `python docs/generate.py`; a test fails when it is stale.
export const PROSE = new Set([
  "asciidoc",
  "docx",
  "latex",
  "markdown",
  "notebook",
  "org",
  "pdf",
  "rst",
  "rtf",
  "text",
  "typst",
]);
