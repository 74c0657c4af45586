"""Plays scenarios by seeds, by profiles and by settings as a Dask graph, and writes what came of each run to one table."""

__version__ = "0.1.0"
