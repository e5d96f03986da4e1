"""What is kept on disk: the catalogue and the views made from it."""
