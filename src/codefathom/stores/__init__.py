"""The stores on disk: the catalogue and the views made from it."""
