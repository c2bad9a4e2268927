"""QC0: input that qcheck cannot read or the API server does not accept."""
