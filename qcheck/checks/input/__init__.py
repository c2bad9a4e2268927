"""QC0: can it be read, and would the API server take it."""
