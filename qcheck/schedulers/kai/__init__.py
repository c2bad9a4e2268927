"""KAI Scheduler: its queue hierarchy, fair share with history, start gates and reclaim."""
