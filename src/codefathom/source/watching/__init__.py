"""Noticing that the files of a project have changed: by events of the system, or by looking again and again."""
