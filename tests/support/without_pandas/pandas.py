"""In the place of pandas, for the processes of the tests: nothing that they run needs it.

Arrow loads pandas wherever it is installed, as it is here for two tests. Our own program does without it
(`heptalog.analytics.own_process`); this is for the tests themselves, and for what they start that is not our program.
"""

raise ImportError("tests that need pandas import it at the top of their file: tests/conftest.py")
