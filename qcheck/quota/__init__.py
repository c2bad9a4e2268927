"""The neutral view of quota that every scheduler's queues can be put into."""
