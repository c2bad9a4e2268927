"""QC8: the effects of a change."""
