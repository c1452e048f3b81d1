"""cbor2, as it is called."""

from importlib.metadata import version

import cbor2

NAME = f"cbor2 {version('cbor2')}"


class Calls:
    encode = staticmethod(cbor2.dumps)
    decode = staticmethod(cbor2.loads)
