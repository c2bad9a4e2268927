"""QC2: do selectors, labels and taints match."""
