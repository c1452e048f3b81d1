// Octets, which Thrift has in strings.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace glue {

template <class Octets>
void fill_octets(const Octets &from, std::string &to) {
  to.assign(reinterpret_cast<const char *>(from.data()), from.size());
}

inline void take_octets(const std::string &from, std::vector<std::uint8_t> &to) {
  const auto *octets = reinterpret_cast<const std::uint8_t *>(from.data());
  to.assign(octets, octets + from.size());
}

}  // namespace glue
