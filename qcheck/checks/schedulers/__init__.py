"""QC9: the queues of other schedulers than Kueue."""
