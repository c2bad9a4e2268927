"""Findings: what is wrong, where, and whether it counts."""
