// Texts, octets and lists of Cap'n Proto. Nothing is seen outside of the runner's
// one translation unit, so that the compiler may inline all of it.
#pragma once

#include <capnp/any.h>
#include <capnp/message.h>

#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

namespace {

// Each is used or not, as the message has it.
[[maybe_unused]] capnp::Text::Reader as_text(const std::string &value) {
  return {value.data(), value.size()};
}

template <class Octets>
capnp::Data::Reader as_data(const Octets &value) {
  return {value.data(), value.size()};
}

[[maybe_unused]] void take(capnp::Text::Reader from, std::string &to) {
  to.assign(from.begin(), from.size());
}

[[maybe_unused]] void take(capnp::Data::Reader from, std::vector<std::uint8_t> &to) {
  to.assign(from.begin(), from.end());
}

// The library's iterators are too few things for std::copy.
template <class List, class Numbers>
void take_each(List list, Numbers &to) {
  auto at = to.begin();
  for (const auto value : list) *at++ = value;
}

// Numbers in a list of them are as in memory.
template <class Numbers, class List>
void put_block(const Numbers &from, List list) {
  const auto bytes = capnp::toAny(kj::mv(list)).asReader().getRawBytes();
  // The builder's own memory, which its reader has no reason to let change.
  std::memcpy(const_cast<kj::byte *>(bytes.begin()), from.data(), bytes.size());
}

template <class List, class Numbers>
void take_block(List list, Numbers &to) {
  const auto bytes = capnp::toAny(list).getRawBytes();
  if (bytes.size() == to.size() * sizeof(to[0])) {
    if (bytes.size() != 0) std::memcpy(to.data(), bytes.begin(), bytes.size());
  } else {
    // The writer's definition has structs there.
    take_each(list, to);
  }
}

}  // namespace
