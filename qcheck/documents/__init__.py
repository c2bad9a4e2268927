"""Text to documents with a position for every key and value. The only user of a YAML parser."""
