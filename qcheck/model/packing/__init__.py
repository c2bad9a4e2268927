"""Can these pods be placed on these nodes? Exact, bounded, and with a proof either way.

`solve.solve(question)` answers a `question.Question` with one of the three answers of `answer`. Nothing in here knows
of pools, queues or manifests; integers only.
"""
