// ROS MSG, as ROS 1 writes it: one field after another without gaps.
#pragma once

#include "wiregauge/sequential.hpp"

namespace wiregauge {

struct RosMsg {
  static constexpr std::size_t alignment = 1;
  static constexpr bool ends_texts = false;
  static constexpr bool has_filler = false;
  static constexpr bool delimits = false;
  static constexpr std::size_t header_size = 0;
  static constexpr std::size_t filling = 0;  // bytes that may follow the message
  static void write_header(std::uint8_t *) {}
  static bool is_header(const std::uint8_t *, std::size_t) { return true; }
};

}  // namespace wiregauge
