"""Node pools, whatever teams keep them in: one module per format, listed in `formats`."""
