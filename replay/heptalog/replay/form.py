"""In which form the core runs: as it is written, or compiled from the same source (`make compiled`)."""

from types import FunctionType
from typing import Final

from heptalog.replay.cards import mask_of

IS_COMPILED: Final = type(mask_of) is not FunctionType
