"""One law a file. A new file here is a new controller."""
