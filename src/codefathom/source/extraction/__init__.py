"""Files that are no text themselves → their text: PDF, Word documents, notebooks."""
