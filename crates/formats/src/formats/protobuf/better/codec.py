"""The normalized message by betterproto2."""

import betterproto2
import glue
from form import FORM
from wiregauge_runner import Codec, Rejected, serve


class Better(Codec):
    library = f"betterproto2 {betterproto2.__version__}"
    phased = True

    populate = staticmethod(glue.give)
    write = staticmethod(bytes)
    parse = staticmethod(glue.Root.parse)
    extract = staticmethod(glue.take)

    def admit(self, message):
        if glue.loses_sign(message):
            raise Rejected("it loses the sign of zero: -0.0 is not written, as 0.0 is not")

    def project(self, wire):
        return glue.project(self.parse(wire))

    def exact(self, wire):
        return glue.exact(self.parse(wire))

    def fixed(self, wire):
        return glue.fixed(self.parse(wire))

    def element(self, wire):
        return glue.element(self.parse(wire))


def main():
    serve(Better, FORM)
