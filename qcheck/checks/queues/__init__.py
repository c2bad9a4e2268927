"""QC4: the references between queues, cohorts and checks."""
