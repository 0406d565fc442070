"""Auditing a whole log: everything that is kept is read again and held against everything else.

Every event is read twice: by position, for the order of all and the Merkle tree (`spans`), and by game, for its bytes,
chain, seals and rules and for what is kept beside it (`games`, `chapters`). The work is cut into pieces that any
process can do (`audit`); where one meets what cannot be read it is narrowed down (`reading`). What is found is told
with its place (`findings`), and how far it is can be written down (`progress`). Where it reads is behind one interface
(`sources`): a database as it lies there, or a server (`servers`).
"""
