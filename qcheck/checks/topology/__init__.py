"""QC5: quota compared with the shape of machines and topologies."""
