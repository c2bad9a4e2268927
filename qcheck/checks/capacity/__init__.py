"""QC1: does the quota exist as nodes."""
