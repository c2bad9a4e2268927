"""QC4: is every queue wired."""
