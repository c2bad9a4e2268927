"""QC8: what a change does."""
