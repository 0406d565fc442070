"""The whole history as a folder of files that other engines read, and back from it into a log.

What each file is for: `records` is the table of the records themselves, `manifest` says what a folder holds, `folder`
puts files there so that a former export stays whole, `pieces` and `merging` are the work that is done on all cores,
`series` the tables that only grow, `exporting` puts it all together, `reading` is the way back, `flat` writes a single
file a table, and `spool` keeps what a server has given until it is read game by game.
"""

from heptalog.analytics.parquet.reading import check as check
from heptalog.analytics.parquet.reading import opened as opened

__all__ = ["check", "opened"]
