"""QC6: whether each workload runs."""
