"""Names that other programs use for what fathom has under its own names: options, settings, arguments.

A user who comes from one of these programs can go on with the words that he knows. `fathom help compat` lists them all;
nothing else in the help or in the documents needs them, and a face that takes one uses our own name from there on.
"""
