"""Evidence: what every run leaves behind. Written once, crash-safe; reports read the files only."""
