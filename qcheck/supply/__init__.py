"""What nodes can give: classes of equal nodes, DaemonSets, reserves, device sharing."""
