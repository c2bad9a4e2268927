"""The commands, one module each: the only place that prints, exits or reads the environment.

`entrypoint.py` runs `check` without importing Typer when its flags are plain; everything else goes through `app.py`.
"""
