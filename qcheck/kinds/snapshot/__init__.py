"""Reduction of a cluster's objects to a snapshot, with made-up names on request."""
