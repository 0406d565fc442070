"""The commands, one a file: each parses what it was given, calls, prints and ends with an exit code."""
