"""Questions over the whole history, beside recording: the process that follows the log, and what is asked of it.

The tables are kept by a process of its own, so that no work on them takes the interpreter, the engine or the memory
of who records. It reads the log through a socket, behind the writer: `feed` gives records, `following` takes them.
`keeper` knows how far the tables are and gives out moments of them; `questions` waits for one that has all that was
acknowledged, and has a worker answer. None of this may ever fail or hold up an append.
"""
