"""QC4: do queues, cohorts and checks refer to each other correctly."""
