"""Quota, whichever scheduler divides it: the neutral tree, and the sums of promises against supply."""
