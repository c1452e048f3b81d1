// The two bounds: no operation, which shows what the harness costs, and memcpy,
// which shows what moving the bytes costs.
#pragma once

#include <cstdint>
#include <cstring>
#include <string>

#include "wiregauge/canonical.hpp"
#include "wiregauge/codec.hpp"

namespace wiregauge {

// A message whose content nobody looks at: its canonical bytes.
struct Opaque {
  Buffer bytes;

  static Opaque from_canonical(Reader &in) {
    Opaque message;
    message.bytes.resize(in.left());
    in.scalars(message.bytes.data(), message.bytes.size());
    return message;
  }
  void to_canonical(Writer &out) const { out.scalars(bytes.data(), bytes.size()); }
};

// Does nothing.
class Noop : public Defaults {
 public:
  using Message = Opaque;
  using Object = None;
  static constexpr bool in_place = true;
  static std::string library() { return "none"; }

  void populate(const Message &, Object &) {}
  void write(const Message &, Object &, Buffer &) {}
  void parse(Wire, Object &) {}
  void extract(Wire, Object &, Message &) {}
  template <class Tally>
  void project(Wire, Object &, Message &, Tally &) {}
  template <class Tally>
  void fixed(Wire, Object &, Message &, Tally &) {}
  template <class Tally>
  void element(Wire, Object &, Message &, Tally &) {}
};

// Copies the canonical bytes there and back.
class Memcpy : public Defaults {
 public:
  using Message = Opaque;
  using Object = None;
  static constexpr bool in_place = true;
  static std::string library() { return "memcpy"; }

  void populate(const Message &, Object &) {}
  void write(const Message &message, Object &, Buffer &out) {
    out.append(message.bytes.data(), message.bytes.size());
  }
  void parse(Wire, Object &) {}
  void extract(Wire wire, Object &, Message &message) {
    message.bytes.clear();
    message.bytes.append(wire.data, wire.size);
  }
  // Every byte is touched, as a projection touches every number.
  template <class Tally>
  void project(Wire wire, Object &, Message &, Tally &tally) {
    std::uint64_t sum = 0;
    std::size_t at = 0;
    for (; at + sizeof sum <= wire.size; at += sizeof sum) {
      std::uint64_t word;
      std::memcpy(&word, wire.data + at, sizeof word);
      sum += word;
    }
    for (; at < wire.size; ++at) sum += wire.data[at];
    tally.number(0, sum);
  }
  template <class Tally>
  void fixed(Wire wire, Object &, Message &, Tally &tally) {
    tally.number(0, wire.size == 0 ? std::uint8_t{0} : wire.data[0]);
  }
  template <class Tally>
  void element(Wire wire, Object &, Message &, Tally &tally) {
    tally.number(0, wire.size == 0 ? std::uint8_t{0} : wire.data[wire.size / 2]);
  }
};

}  // namespace wiregauge
