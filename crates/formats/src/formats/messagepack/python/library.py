"""msgpack, as it is called."""

import msgpack

if msgpack.Packer.__module__ != "msgpack._cmsgpack":
    raise ImportError("msgpack is the one in Python, not the one in C")

NAME = "msgpack {}.{}.{}".format(*msgpack.version)


class Calls:
    def __init__(self):
        self.encode = msgpack.Packer().pack

    # A record may be as long as the message; the library's own bounds are those.
    decode = staticmethod(msgpack.unpackb)
