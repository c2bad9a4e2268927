"""Documents to typed manifests and to what the API server would refuse of them; one module per API group."""
