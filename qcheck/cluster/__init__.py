"""The facts about one cluster, as frozen values. No derived answers, no I/O, no floats."""
