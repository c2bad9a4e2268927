"""The joints of the pipeline: read, render, model, diff, fix."""
