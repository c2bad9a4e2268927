"""Volcano: how its plugins divide a cluster among queues, what its webhook refuses, and when its jobs may start."""
