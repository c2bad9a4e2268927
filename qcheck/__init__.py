"""qcheck: check that the quota by which Kueue admits workloads exists as nodes."""

__version__ = "0.1.0"

HOME = "https://github.com/qcheck-dev/qcheck"
DOCS = f"{HOME}/blob/main/docs"
"""Absolute URLs used in output, so that they work wherever qcheck is installed."""
