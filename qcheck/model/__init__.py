"""The cluster as plain frozen values, and the questions it can answer. Pure and exact: no YAML, no I/O, no floats."""
