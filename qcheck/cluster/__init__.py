"""The facts about one cluster as frozen values. No questions, no I/O, no floats."""
