"""Kueue: routing, flavor assignment, admission, preemption and topology."""
