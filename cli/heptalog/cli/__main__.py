"""`python -m heptalog.cli` is the program, too."""

from heptalog.cli.app import main

main()
