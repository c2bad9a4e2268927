"""Terraform and OpenTofu: plans and states as JSON, and HCL as far as it can be evaluated without running anything."""
