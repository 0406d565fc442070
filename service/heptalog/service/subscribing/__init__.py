"""Feeds: whoever subscribes is told what was recorded and what is being recorded, in one order, as one viewer."""
