"""Measures Codefathom and its peers on annotated questions. Not part of the package; uses its public interface only."""
