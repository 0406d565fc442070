"""The folder beside a database in which its tables are kept: followed event by event, or made anew as a whole."""

from heptalog.analytics.keeping.building import build
from heptalog.analytics.keeping.checking import check
from heptalog.analytics.keeping.follower import Follower
from heptalog.analytics.keeping.manifest import Counted
from heptalog.analytics.keeping.opening import due, is_far, opened
from heptalog.analytics.keeping.place import folder_of

__all__ = ["Counted", "Follower", "build", "check", "due", "folder_of", "is_far", "opened"]
