"""The HTTP side of the server: access, errors, streams of events, files of the page."""
