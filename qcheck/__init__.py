"""qcheck: check that the quota by which Kueue admits workloads exists as nodes."""

__version__ = "0.1.0"
