"""Absolute URLs used in output, so that they work wherever qcheck is installed."""

HOME = "https://github.com/qcheck-dev/qcheck"
DOCS = f"{HOME}/blob/main/docs"
