// The calls of Protobuf's wire.
#pragma once

#include "glue.hpp"

namespace calls {

using wiregauge::protobuf::describe;
using wiregauge::protobuf::Error;

inline Error serialize(const glue::Root &message, std::uint8_t *out, std::size_t room,
                       std::size_t &bytes) {
  return wiregauge::protobuf::serialize(message, out, room, bytes);
}

inline Error deserialize(const std::uint8_t *data, std::size_t bytes, glue::Root &message) {
  return wiregauge::protobuf::deserialize(data, bytes, message);
}

}  // namespace calls
