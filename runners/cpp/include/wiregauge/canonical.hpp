// The canonical form (docs/runner-protocol.md): little-endian, no padding.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "wiregauge/codec.hpp"

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the canonical form is written for little-endian machines"
#endif

namespace wiregauge {

class Reader {
 public:
  explicit Reader(Wire wire) : at_(wire.data), end_(wire.data + wire.size) {}

  template <class T>
  T scalar() {
    static_assert(std::is_arithmetic_v<T>);
    T value;
    std::memcpy(&value, take(sizeof(T)), sizeof(T));
    return value;
  }

  template <class T>
  void scalars(T *out, std::size_t count) {
    if (count != 0) std::memcpy(out, take(count * sizeof(T)), count * sizeof(T));
  }

  std::size_t count() { return scalar<std::uint32_t>(); }

  // Bytes that are still there: an upper bound for any count of elements.
  std::size_t left() const { return static_cast<std::size_t>(end_ - at_); }

  std::string text() {
    const std::size_t size = count();
    const auto *bytes = reinterpret_cast<const char *>(take(size));
    return std::string(bytes, size);
  }

  std::vector<std::uint8_t> bytes() {
    const std::size_t size = count();
    const std::uint8_t *bytes = take(size);
    return std::vector<std::uint8_t>(bytes, bytes + size);
  }

  void finish() const {
    if (at_ != end_) throw std::runtime_error("bytes left over after the message");
  }

 private:
  const std::uint8_t *take(std::size_t size) {
    if (left() < size) throw std::runtime_error("the canonical message ends too early");
    const std::uint8_t *at = at_;
    at_ += size;
    return at;
  }

  const std::uint8_t *at_;
  const std::uint8_t *end_;
};

class Writer {
 public:
  explicit Writer(Buffer &out) : out_(out) {}

  template <class T>
  void scalar(T value) {
    static_assert(std::is_arithmetic_v<T>);
    out_.append(&value, sizeof value);
  }

  template <class T>
  void scalars(const T *values, std::size_t count) {
    out_.append(values, count * sizeof(T));
  }

  void count(std::size_t count) { scalar(static_cast<std::uint32_t>(count)); }

  void text(const std::string &value) {
    count(value.size());
    out_.append(value.data(), value.size());
  }

  void bytes(const std::vector<std::uint8_t> &value) {
    count(value.size());
    out_.append(value.data(), value.size());
  }

 private:
  Buffer &out_;
};

}  // namespace wiregauge
