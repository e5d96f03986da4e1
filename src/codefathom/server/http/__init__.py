"""What HTTP asks for: who may ask, errors, streams of events, files of the page."""
