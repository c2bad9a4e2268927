"""Can these pods be placed on these nodes? Exact, bounded, and with a proof either way."""
