// Which wire it is: ROS MSG.
#pragma once

#include "notification.hpp"
#include "wiregauge/ros_msg.hpp"

namespace on_wire {

template <class Message>
bool serialize(const Message &message, std::vector<std::uint8_t> &bytes) {
  return wiregauge::serialize<wiregauge::RosMsg>(message, bytes) == wiregauge::Error::none;
}

template <class Message>
bool deserialize(const std::vector<std::uint8_t> &bytes, Message &message) {
  return wiregauge::deserialize<wiregauge::RosMsg>(bytes.data(), bytes.size(), message) ==
         wiregauge::Error::none;
}

}  // namespace on_wire
