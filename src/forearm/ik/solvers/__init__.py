"""One solver a file. A new file here is a new solver."""
