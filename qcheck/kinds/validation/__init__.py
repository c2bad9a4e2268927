"""Checks beyond structure: CEL rules of CRDs, Kueue's webhooks, and the API server's own checks of pods.

A check takes a cursor and a `Target` and yields failures; it ignores values of the wrong type, which the structure
check reports. Ids are those of the catalogue in `ids.py`.
"""
