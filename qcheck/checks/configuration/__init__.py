"""QC7: Kueue's manager Configuration."""
