"""Addresses that output points to: absolute, so that they work wherever qcheck is installed."""

HOME = "https://github.com/qcheck-dev/qcheck"
DOCS = f"{HOME}/blob/main/docs"
