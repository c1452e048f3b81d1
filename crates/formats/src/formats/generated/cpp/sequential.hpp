// The calls of a wire that writes field after field.
#pragma once

#include "glue.hpp"

namespace calls {

using wiregauge::describe;
using wiregauge::Error;

inline Error serialize(const glue::Root &message, std::uint8_t *out, std::size_t room,
                       std::size_t &bytes) {
  return wiregauge::serialize<glue::OnWire>(message, out, room, bytes);
}

inline Error deserialize(const std::uint8_t *data, std::size_t bytes, glue::Root &message) {
  return wiregauge::deserialize<glue::OnWire>(data, bytes, message);
}

}  // namespace calls
