"""Sends a Notification to standard output, or reads one from standard input: by
Protobuf's library."""

import sys

from rsb_pb2 import Notification


def send():
    notification = Notification()
    notification.event_id.sender_id = b"self"
    notification.event_id.sequence_number = 1
    notification.scope = b"/a/b"
    notification.wire_schema = b"text"
    notification.data = b"data"
    notification.method = b"PUSH"
    notification.meta_data.create_time = 1
    notification.meta_data.send_time = 2
    notification.meta_data.user_infos.add(key=b"some", value=b"info")
    return notification.SerializeToString()


def read(data):
    notification = Notification.FromString(data)
    event_id = notification.event_id
    print(
        notification.scope.decode(),
        notification.data.decode(),
        event_id.sender_id.decode(),
        event_id.sequence_number,
    )
    for info in notification.meta_data.user_infos:
        print(info.key.decode(), info.value.decode())


if len(sys.argv) == 1:
    sys.stdout.buffer.write(send())
else:
    read(sys.stdin.buffer.read())
