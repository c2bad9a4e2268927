"""qcheck: does the quota that Kueue admits by exist as nodes?"""

__version__ = "0.1.0"
