"""KAI's scheduler as a simulation: shares, allocation, reclaim and preemption, cycle by cycle.

Modelled on release 0.17 (`pkg/scheduler/actions`, `pkg/scheduler/plugins/proportion`).
"""
