"""Exact, bounded placement of pods on nodes, with a proof either way."""
