"""Capacity of nodes: classes of equal nodes, DaemonSets, reserves, device sharing."""
