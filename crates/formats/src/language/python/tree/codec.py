"""The normalized message as a tree of dicts, lists, texts and numbers."""

import glue
from form import FORM
from library import NAME, Calls
from wiregauge_runner import Codec, serve


class Tree(Codec):
    library = NAME
    phased = True

    def __init__(self):
        calls = Calls()
        self.check = getattr(calls, "check", None)
        self.write, self.parse = calls.encode, calls.decode

    populate = staticmethod(glue.give)
    extract = staticmethod(glue.take)

    def admit(self, message):
        if self.check is not None:
            self.check(glue.give(message))

    def project(self, wire):
        return glue.project(self.parse(wire))

    def exact(self, wire):
        return glue.exact(self.parse(wire))

    def fixed(self, wire):
        return glue.fixed(self.parse(wire))

    def element(self, wire):
        return glue.element(self.parse(wire))


def main():
    serve(Tree, FORM)
