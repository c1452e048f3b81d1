"""What can be wrong with a field, a message or a conversion."""

MESSAGES = {
    "truncated": "the packed field is cut short",
    "magic": "this is not a packed field",
    "version": "the packed field has major version {number}, which this reader does not know",
    "header": "the packed field's header or descriptors are too short",
    "limit": "more bytes, rows, columns or alignment than a packed field may have",
    "name": "the name of {column} is empty, too long or not printable ASCII",
    "duplicate": "{column} occurs twice",
    "range": "{column} does not fit into the packed field",
    "overlap": "{column} overlaps other parts of the packed field",
    "scale": "{column} has a scale that is zero, not finite, or not on an integer",
    "wire": "the message is not in Protobuf's wire format",
    "depth": "the message has groups nested too deep",
    "unknown": "field {number} of '{name}' has no column, so it would be lost",
    "foreign": "OSI has no field for {column}, so it would be lost",
    "both": "a message has both rows and a packed field",
    "element": "{column} cannot have this element type",
    "value": "a value of {column} is out of its element type's range",
    "resolution": "the resolution of {column} is not a positive number, "
    "or the column is not f64 or f32",
    "steps": "a value of {column} is 2^51 of its resolution or more away from 0",
    "blocks": "the blocks of {column} do not have its number of rows",
    "preset": "{preset} is none of {known}",
    "kind": "reflections belong into a SensorView and detections into SensorData",
}


class PackedError(ValueError):
    """What went wrong.

    ``fault`` is a key of MESSAGES, ``number`` the field's number, the column's
    index, the preset's or the version, ``name`` the column, message or preset that is
    meant, ``known`` what it may be.
    """

    def __init__(self, fault, number=0, name="", known=""):
        meant = f"'{name}'" if name else number
        super().__init__(
            MESSAGES[fault].format(
                number=number,
                name=name,
                column=f"column {meant}",
                preset=f"preset {meant}",
                known=known,
            )
        )
        self.fault = fault
        self.number = number
        self.name = name
