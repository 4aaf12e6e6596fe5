"""The insertion's controllers, one a file."""
