"""The normalized message by the holders that wiregauge generates."""

import glue
from form import FORM
from wiregauge_runner import Codec, serve


class Generated(Codec):
    library = glue.NAME
    phased = True
    has_clients = True

    build = staticmethod(glue.build)
    write = staticmethod(glue.serialize)
    parse = staticmethod(glue.deserialize)
    extract = staticmethod(glue.take)

    def project(self, wire):
        return glue.project(glue.view(wire))

    def exact(self, wire):
        return glue.exact(glue.view(wire))

    def fixed(self, wire):
        return glue.fixed(glue.view(wire))

    def element(self, wire):
        return glue.element(glue.view(wire))


def main():
    serve(Generated, FORM)
