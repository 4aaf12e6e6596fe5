"""Control: pure controllers, one law a file, behind one signature."""
