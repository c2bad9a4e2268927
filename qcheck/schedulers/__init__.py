"""The decisions of each scheduler. No scheduler imports another."""
