"""Bringing recorded games into a log: each one verified whole before anything of it is written, and only once.

What is missing is filled in so that the same file brings the same events again (`heptalog.replay.identity`); the log
then knows them by their ids. A game that the log has already is compared as far as it goes, and goes on from there.
"""
