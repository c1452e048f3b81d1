"""Decodes UPER messages by asn1tools and writes their canonical form.

Arguments: a folder with the module message.asn, the schema schema.json and messages
NUMBER.uper. Beside each message it writes NUMBER.canonical, and it fails where
asn1tools does not encode what it decoded to the same bytes.
"""

import json
import pathlib
import struct
import sys

import asn1tools

folder = pathlib.Path(sys.argv[1])
schema = json.loads((folder / "schema.json").read_text())
types = schema["types"]
module = asn1tools.compile_files([str(folder / "message.asn")], "uper")

FORMATS = {
    "bool": "?", "u8": "B", "u16": "H", "u32": "I", "u64": "Q",
    "i8": "b", "i16": "h", "i32": "i", "i64": "q",
    # A float is the integer of its bits.
    "f32": "I", "f64": "Q",
}


def block(octets):
    return struct.pack("<I", len(octets)) + octets


def element(of, value):
    """The canonical form of one element."""
    if of == "string":
        return block(value.encode())
    if of == "bytes":
        return block(value)
    (kind, what), = of.items()
    if kind == "record":
        return record(types[what]["record"], value)
    scalar = types[what]["enum"]["repr"] if kind == "enum" else what
    return struct.pack("<" + FORMATS[scalar], value)


def record(of, value):
    """The canonical form of a record."""
    form = b""
    for field in of["fields"]:
        name = field["name"]["legal"].lower().replace("_", "-")
        what, cardinality = field["element"], field["cardinality"]
        if "union" in field:
            # A CHOICE: which member, and its value.
            chosen, one = value.get(field["union"].lower().replace("_", "-"), (None, None))
            form += b"\x01" + element(what, one) if chosen == name else b"\x00"
        elif cardinality == "optional":
            form += b"\x01" + element(what, value[name]) if name in value else b"\x00"
        elif isinstance(cardinality, str):
            form += element(what, value[name])
        else:
            if "list" in cardinality:
                form += struct.pack("<I", len(value[name]))
            # Octets are numbers, too.
            form += b"".join(element(what, one) for one in value[name])
    return form


root = types[schema["root"]]["record"]
for path in sorted(folder.glob("*.uper")):
    octets = path.read_bytes()
    value = module.decode(root["name"]["legal"], octets)
    if module.encode(root["name"]["legal"], value) != octets:
        sys.exit(f"asn1tools encodes {path.name} to other bytes")
    path.with_suffix(".canonical").write_bytes(record(root, value))
