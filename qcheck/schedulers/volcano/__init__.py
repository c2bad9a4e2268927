"""Volcano: how its plugins divide a cluster among queues, what its webhook rejects, and when its jobs may start."""
