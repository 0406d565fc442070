"""The command line: `heptalog`."""
