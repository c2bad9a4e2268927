"""QC0: can qcheck read it, and does the API server accept it."""
