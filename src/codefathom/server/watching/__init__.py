"""Projects whose index follows their files by itself."""
