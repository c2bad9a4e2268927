"""QC2: selectors, labels and taints that do not match."""
