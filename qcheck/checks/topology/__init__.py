"""QC5: does the quota fit the machines' shape."""
