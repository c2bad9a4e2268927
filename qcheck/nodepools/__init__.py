"""Node pools in every supported format: one module per format, listed in `formats`."""
