"""Refusals beyond structure: CEL rules of CRDs, Kueue's webhooks, and the API server's own checks of pods.

A check takes a cursor and a `Target` and yields failures; it looks at values of the right type only, because the
structure has been checked. Ids are those of the catalogue in `ids.py`.
"""
