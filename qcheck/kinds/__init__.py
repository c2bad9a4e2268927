"""Turns documents into typed manifests, and finds what the API server would reject; one module per API group."""
