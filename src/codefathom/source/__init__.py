"""Stage 1: folder → documents."""
