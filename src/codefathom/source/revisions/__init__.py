"""Revisions of git, such as a branch, tag or commit, read straight from the object store."""
