"""QC3: two priority systems, two layers."""
