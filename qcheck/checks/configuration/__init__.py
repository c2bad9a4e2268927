"""QC7: the manager's Configuration."""
