"""QC6: will this workload run."""
