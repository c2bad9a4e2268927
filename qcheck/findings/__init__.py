"""Findings: problems, their places, and whether they count."""
