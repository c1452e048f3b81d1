// XCDR version 1, little-endian, as ROS 2 writes it: numbers at multiples of their
// size, texts that end in a zero.
#pragma once

#include "wiregauge/sequential.hpp"

namespace wiregauge {

// Without the header of DDS.
struct Cdr {
  static constexpr std::size_t alignment = 8;
  static constexpr bool ends_texts = true;
  static constexpr bool has_filler = true;
  static constexpr bool delimits = false;
  static constexpr std::size_t header_size = 0;
  static constexpr std::size_t filling = 0;  // bytes that may follow the message
  static void write_header(std::uint8_t *) {}
  static bool is_header(const std::uint8_t *, std::size_t) { return true; }
};

// Behind the header of DDS, as in messages and recordings of ROS 2.
struct CdrWithHeader : Cdr {
  static constexpr std::size_t header_size = 4;
  // DDS fills up to a multiple of four.
  static constexpr std::size_t filling = 3;
  static void write_header(std::uint8_t *out) {
    const std::uint8_t header[header_size] = {0, 1, 0, 0};
    std::memcpy(out, header, header_size);
  }
  static bool is_header(const std::uint8_t *data, std::size_t bytes) {
    return bytes >= header_size && data[0] == 0 && data[1] == 1;
  }
};

}  // namespace wiregauge
