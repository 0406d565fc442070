"""Examining and comparing the games of a log: whether one is good, where two part, and one under other options."""
