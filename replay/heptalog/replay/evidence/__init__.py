"""Evidence: what makes a record provable, as arithmetic over bytes.

`chain` links the events of one game and `seals` commit to hidden cards. `merkle` puts the events of all games under one
root, `notes` and `checkpoints` are the texts in which that root is signed, `proofs` what shows that an event is in it.
"""
