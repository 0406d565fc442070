"""One question in SQL, asked of one snapshot by a process that may do nothing else.

The engine has no wall inside a process: whoever can make it run SQL can make it do all that it can do. So a question
is answered by a process of its own, in which nothing else is:

    service ── Workers ══ nursery ── worker (this question)
                  ╚═══════ pieces of the answer ═══╝

`workers.py` is the service's side. `nursery.py` is a process that has everything loaded and forks a worker for each
question, kills it at its deadline, and dies with the service. A worker gives up all that it does not need
(`confining.py`, `landlock.py`, `seccomp.py`), lets only SELECTs over our tables pass (`admitting.py`, `grammar.py`,
`functions.py`, `naming.py`), and writes what the engine answers (`answering.py`) as far as Arrow can hold it
(`narrowing.py`). Nothing that it writes is believed to be more than bytes. docs/queries.md says against what this was
tried.
"""

from heptalog.analytics.asking.limits import Limits as Limits
from heptalog.analytics.asking.workers import Answer as Answer
from heptalog.analytics.asking.workers import Workers as Workers
