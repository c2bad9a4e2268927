"""QC1: quota compared with the nodes behind it."""
