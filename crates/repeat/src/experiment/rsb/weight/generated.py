"""Sends a Notification to standard output, or reads one from standard input: by what
wiregauge generates."""

import sys

from notification import Notification, UserInfo


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
    notification.meta_data.user_infos = [UserInfo(key=b"some", value=b"info")]
    return notification.serialize_ros_msg()


def read(data):
    notification = Notification.deserialize_ros_msg(data)
    event_id = notification.event_id
    print(
        bytes(notification.scope).decode(),
        bytes(notification.data).decode(),
        bytes(event_id.sender_id).decode(),
        event_id.sequence_number,
    )
    for info in notification.meta_data.user_infos:
        print(bytes(info.key).decode(), bytes(info.value).decode())


if len(sys.argv) == 1:
    sys.stdout.buffer.write(send())
else:
    read(sys.stdin.buffer.read())
