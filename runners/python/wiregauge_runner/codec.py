"""What a runner in Python must know of its codec."""


class Rejected(Exception):
    """A message that the format cannot say. It is no fault of the codec, which is
    then shown as rejected and not as failed."""


class Codec:
    """A codec; an instance is its scratch: what a user of the library keeps that is
    no message.

    A library whose own objects stand between the normalized form and bytes is
    phased, and has all four of `populate`, `write`, `parse` and `extract`.
    """

    #: Its name and version.
    library = "none"
    #: Whether there is an object between the normalized form and bytes.
    phased = False
    #: Whether users build and read its object, or the normalized form as if it were
    #: that, so that there is the experiment `client`.
    has_clients = False
    #: Whether there is `verify(wire)`: checking apart from reading.
    verifies = False
    #: Whether decoding and reading trust the bytes.
    unchecked = False
    #: Whether objects live on from message to message, where the library can.
    objects_reused = False

    def admit(self, message):
        """Called once with each message before anything is timed: refuses one that
        the library would change in silence, so that no check has to be timed."""

    def populate(self, message):
        """The library's object of a message."""
        return message

    def build(self, message):
        """The same of values that a client has; where the normalized form is that
        object, a new one."""
        return self.populate(message)

    def write(self, item):
        """The bytes of the library's object, as the library hands them over."""
        raise NotImplementedError

    def parse(self, wire):
        """The library's object in these bytes."""
        raise NotImplementedError

    def extract(self, item):
        """The message that the library's object is."""
        return item

    def project(self, wire):
        """The sum of all numbers."""
        raise NotImplementedError

    def exact(self, wire):
        """The same numbers as a `Tally`, read in the same way."""
        raise NotImplementedError

    def fixed(self, wire):
        """One number outside of every list; None where it is not there."""
        raise NotImplementedError

    def element(self, wire):
        """One number of the middle element of a list; None where it is not there."""
        raise NotImplementedError
