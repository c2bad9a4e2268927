"""QC9: the queues of schedulers other than Kueue."""
