"""Backups: one moment of a log in a folder of plain files, checked as it is made, and a log made anew from it.

A source gives what a backup does not have yet, in parts (`parts`); they are checked (`checking`) and written into
segments (`segments`), and the manifest (`manifest`) is replaced last. Restoring goes the same way back.
"""
