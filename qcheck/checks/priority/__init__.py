"""QC3: the priorities of Kueue and of kube-scheduler."""
