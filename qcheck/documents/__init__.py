"""Parses text to documents that know the position of every key and value. The only user of a YAML parser."""
