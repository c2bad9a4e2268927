"""What a snapshot of a cluster keeps of its objects, and names in place of theirs."""
