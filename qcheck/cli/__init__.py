"""The commands, one module each: the only code that prints, exits or reads the environment.

`entrypoint.py` runs `check` without importing Typer if its flags are plain; everything else goes through `app.py`.
"""
