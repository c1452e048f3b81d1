"""The normalized message by the classes of Protobuf's own library, and columns by
wiregauge's own."""

import glue
from form import FORM
from protobuf_codec import Protobuf
from wiregauge_runner import serve


class Packed(Protobuf):
    library = Protobuf.library + glue.WITH


def main():
    serve(Packed, FORM)
