"""Answers to questions about a cluster: capacity, admission verdicts, differences."""
