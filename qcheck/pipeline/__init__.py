"""The stages joined: read, render, model, diff, fix."""
