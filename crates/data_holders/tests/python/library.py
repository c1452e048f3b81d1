"""Protobuf's library."""

from pathlib import Path

from google.protobuf import descriptor_pb2, descriptor_pool, message_factory


def kind(descriptors, name):
    """The class of a message in a descriptor set. Fields that are called `…_group` are
    delimited: Debian's protoc knows no editions, in which any message may be so."""
    pool = descriptor_pool.DescriptorPool()
    for file in descriptor_pb2.FileDescriptorSet.FromString(Path(descriptors).read_bytes()).file:
        for message in file.message_type:
            for field in message.field:
                if field.name.endswith("_group"):
                    field.type = field.TYPE_GROUP
        pool.Add(file)
    return message_factory.GetMessageClass(pool.FindMessageTypeByName(name))
