// Which wire it is: Protobuf's.
#pragma once

#include "notification.hpp"
#include "wiregauge/protobuf.hpp"

namespace on_wire {

template <class Message>
bool serialize(const Message &message, std::vector<std::uint8_t> &bytes) {
  return wiregauge::protobuf::serialize(message, bytes) == wiregauge::protobuf::Error::none;
}

template <class Message>
bool deserialize(const std::vector<std::uint8_t> &bytes, Message &message) {
  return wiregauge::protobuf::deserialize(bytes.data(), bytes.size(), message) ==
         wiregauge::protobuf::Error::none;
}

}  // namespace on_wire
