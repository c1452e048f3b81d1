"""rosbags with the message's definition."""

from importlib.metadata import version

from definition import DEFINITIONS
from rosbags.typesys import Stores, get_types_from_msg, get_typestore

NAME = f"rosbags {version('rosbags')}"

STORE = get_typestore(Stores.EMPTY)
for name, text in DEFINITIONS.items():
    STORE.register(get_types_from_msg(text, name))
TYPES = STORE.types
