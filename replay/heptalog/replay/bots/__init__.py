"""Players that are programs, of two strengths: for simulations and demonstrations. Chance comes from outside.

A bot knows what its seat may see and nothing else: its own hand and the table.
"""

from heptalog.replay.bots.moves import Strength, move

__all__ = ["Strength", "move"]
