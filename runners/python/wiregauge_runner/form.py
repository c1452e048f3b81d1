"""The normalized form: plain objects of the holders that `wiregauge generate`
makes, read from canonical bytes and written as such. Nothing here is timed.

A list of numbers is an `array.array` of their type, a fixed array of numbers a
list, as is any other list; octets are `bytes`.
"""

import struct
from array import array

#: Codes of the modules struct and array.
CODES = {
    "bool": "?", "u8": "B", "u16": "H", "u32": "I", "u64": "Q",
    "i8": "b", "i16": "h", "i32": "i", "i64": "q", "f32": "f", "f64": "d",
}  # fmt: skip


class Form:
    """The form of one message: its schema, and the holders' classes and members by
    the place of their types."""

    def __init__(self, schema, projection, classes, members):
        self.types = schema["types"]
        self.root = schema["root"]
        self.classes = classes
        self.members = members
        self.paths = {name: projection[name] for name in ("fixed", "element")}

    def code(self, element):
        """The code of a number; none of what is no number."""
        if not isinstance(element, dict) or "record" in element:
            return None
        if "enum" in element:
            return CODES[self.types[element["enum"]]["enum"]["repr"]]
        return CODES[element["scalar"]]

    def fields(self, number):
        """The fields of a record."""
        return self.types[number]["record"]["fields"]

    def path_code(self, name):
        """The code of the number that `fixed` or `element` reads; none without one."""
        path, number = self.paths[name], self.root
        for step in path or []:
            element = self.fields(number)[step["field"]]["element"]
            if isinstance(element, dict) and "record" in element:
                number = element["record"]
        return self.code(element) if path else None

    def read(self, canonical):
        """The message in canonical bytes."""
        message, at = self._record(self.root, canonical, 0)
        if at != len(canonical):
            raise ValueError("bytes left over after the message")
        return message

    def _record(self, number, data, at):
        values = []
        for field in self.fields(number):
            value, at = self._field(field, data, at)
            values.append(value)
        return self.classes[number](*values), at

    def _field(self, field, data, at):
        element, cardinality = field["element"], field["cardinality"]
        if cardinality in ("required", "implicit"):
            return self._one(element, data, at)
        if cardinality == "optional":
            return self._one(element, data, at + 1) if data[at] else (None, at + 1)
        is_list = "list" in cardinality
        if is_list:
            (count,) = struct.unpack_from("<I", data, at)
            at += 4
        else:
            count = cardinality["array"]["len"]
        code = self.code(element)
        if code is not None:
            numbers = struct.unpack_from(f"<{count}{code}", data, at)
            at += struct.calcsize(f"<{count}{code}")
            return (array(code, numbers) if is_list and code != "?" else list(numbers)), at
        values = []
        for _ in range(count):
            value, at = self._one(element, data, at)
            values.append(value)
        return values, at

    def _one(self, element, data, at):
        code = self.code(element)
        if code is not None:
            return struct.unpack_from(f"<{code}", data, at)[0], at + struct.calcsize(f"<{code}")
        if isinstance(element, dict):
            return self._record(element["record"], data, at)
        (size,) = struct.unpack_from("<I", data, at)
        octets = bytes(data[at + 4 : at + 4 + size])
        if len(octets) != size:
            raise ValueError("the canonical message ends too early")
        return (octets if element == "bytes" else octets.decode()), at + 4 + size

    def write(self, message):
        """The canonical bytes of a message."""
        out = []
        self._put(self.root, message, out)
        return b"".join(out)

    def _put(self, number, message, out):
        for field, member in zip(self.fields(number), self.members[number]):
            value, cardinality = getattr(message, member), field["cardinality"]
            element = field["element"]
            if cardinality in ("required", "implicit"):
                self._put_one(element, value, out)
                continue
            if cardinality == "optional":
                out.append(b"\0" if value is None else b"\1")
                if value is not None:
                    self._put_one(element, value, out)
                continue
            code, is_list = self.code(element), "list" in cardinality
            kind = array if is_list and code not in (None, "?") else list
            if type(value) is not kind or kind is array and value.typecode != code:
                raise TypeError(f"{member} is a {type(value).__name__}, not the normalized form")
            if is_list:
                out.append(struct.pack("<I", len(value)))
            elif len(value) != cardinality["array"]["len"]:
                raise ValueError(f"{member} has {len(value)} elements")
            if code is not None:
                out.append(struct.pack(f"<{len(value)}{code}", *value))
                continue
            for one in value:
                self._put_one(element, one, out)

    def _put_one(self, element, value, out):
        code = self.code(element)
        if code is not None:
            out.append(struct.pack(f"<{code}", value))
        elif isinstance(element, dict):
            self._put(element["record"], value, out)
        else:
            octets = value.encode() if element == "string" else value
            if type(octets) is not bytes:
                raise TypeError(f"octets are {type(octets).__name__}, not the normalized form")
            out.append(struct.pack("<I", len(octets)) + octets)
