"""In the place of pandas, for the processes that tests start: nothing that they run needs it.

Arrow loads pandas wherever it is installed, as it is here for two tests, and with it every process that records or
keeps tables: a third of a second each. Where only what the program needs is installed, there is none to load.
"""

raise ImportError("tests that need pandas import it at the top of their file: tests/conftest.py")
