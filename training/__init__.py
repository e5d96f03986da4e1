"""The recipe of the bundled embedding model; not part of the package."""
