"""What each scheduler decides. No scheduler imports another."""
