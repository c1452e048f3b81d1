// What FastCDR does not say by itself, or says otherwise. Tried with 1.0.26,
// 2.2.5 and 2.3.6.
#pragma once

#include <fastcdr/Cdr.h>
#include <fastcdr/FastBuffer.h>
#include <fastcdr/config.h>

#include <algorithm>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "wiregauge/codec.hpp"

#if FASTCDR_VERSION_MAJOR < 1
#error "Fast CDR is too old: 1.0.26 is the oldest that is known to work"
#endif

namespace glue {

using eprosima::fastcdr::Cdr;
using eprosima::fastcdr::FastBuffer;

// Little-endian, by version 1 of the encoding, which is the only one before
// version 2 of the library, but not what that does by itself.
struct LittleEndian : Cdr {
#if FASTCDR_VERSION_MAJOR < 2
  explicit LittleEndian(FastBuffer &buffer) : Cdr(buffer, Cdr::LITTLE_ENDIANNESS) {}
  std::size_t done() const { return getSerializedDataLength(); }
#else
  explicit LittleEndian(FastBuffer &buffer)
      : Cdr(buffer, Cdr::LITTLE_ENDIANNESS, eprosima::fastcdr::CdrVersion::XCDRv1) {}
  std::size_t done() const { return get_serialized_data_length(); }
#endif
};

// The offset behind so many numbers that are written, aligned, at this one.
inline std::size_t after(std::size_t at, std::size_t size, std::size_t count) {
  return count == 0 ? at : at + Cdr::alignment(at, size) + size * count;
}

struct Out {
  explicit Out(wiregauge::Buffer &out)
      : buffer(reinterpret_cast<char *>(out.data()), out.size()), cdr(buffer) {}

  void count(std::size_t count) {
    if (count > std::numeric_limits<std::uint32_t>::max())
      throw wiregauge::Rejected("a list is too long for CDR");
    cdr << static_cast<std::uint32_t>(count);
  }

  FastBuffer buffer;
  LittleEndian cdr;
};

struct In {
  // The library takes a pointer that it might write to, but only reads here.
  explicit In(wiregauge::Wire wire)
      : buffer(reinterpret_cast<char *>(const_cast<std::uint8_t *>(wire.data)), wire.size),
        cdr(buffer),
        size(wire.size) {}

  std::size_t left() const { return size - cdr.done(); }

  // A count of records, checked as the library checks those that it reads.
  std::size_t count() {
    std::uint32_t count = 0;
    cdr >> count;
    if (count > left()) throw std::runtime_error("a list is longer than the message");
    return count;
  }

  bool presence() {
    const std::size_t count = this->count();
    if (count > 1) throw std::runtime_error("an optional record occurs more than once");
    return count == 1;
  }

  FastBuffer buffer;
  LittleEndian cdr;
  std::size_t size;
};

// An absent value is zero or empty.
template <class T>
const T &value_of(const std::optional<T> &value) {
  static const T absent{};
  return value ? *value : absent;
}

template <class T>
void serialize(Out &out, const T &value) {
  out.cdr << value;
}

// The library ends a text at its first zero, as CDR has it.
inline void serialize(Out &out, const std::string &value) {
  if (value.find('\0') != std::string::npos)
    throw wiregauge::Rejected("CDR cannot say a text that holds a zero");
  out.cdr << value;
}

template <class T>
void deserialize_optional(In &in, std::optional<T> &to) {
  bool present = false;
  in.cdr >> present;
  if (!to) to.emplace();
  in.cdr >> *to;
  if (!present) to.reset();
}

// Truth values of a list are kept as octets.
inline void check_flags(const std::vector<std::uint8_t> &flags) {
  if (std::any_of(flags.begin(), flags.end(), [](std::uint8_t flag) { return flag > 1; }))
    throw std::runtime_error("a boolean is neither true nor false");
}

}  // namespace glue
