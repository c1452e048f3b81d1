// What the reading experiments make of the numbers that they read: a sum where
// they are timed, a digest where they have to prove themselves. Glue is written
// once for any tally, so that what is proven is the code that is timed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace wiregauge {

// The sum, in the order in which the numbers come.
struct Sum {
  double value = 0;

  // A number of the field at this place in its record, of the schema's type:
  // std::uint8_t … std::int64_t, float, double, bool; for an enum its integer.
  template <class Number>
  void number(unsigned, Number number) {
    static_assert(std::is_arithmetic_v<Number>);
    value += static_cast<double>(number);
  }
  // The length of a text or of octets.
  void length(unsigned, std::size_t length) { value += static_cast<double>(length); }
  // What a record inside brought.
  void record(unsigned, const Sum &inner) { value += inner.value; }
};

// How many numbers there were and a hash of all their bits, in any order but
// each in its own field and record (docs/runner-protocol.md has the formula).
struct Digest {
  std::uint64_t count = 0;
  std::uint64_t hash = 0;

  template <class Number>
  void number(unsigned field, Number number) {
    static_assert(std::is_arithmetic_v<Number> && sizeof number <= sizeof(std::uint64_t));
    std::uint64_t bits = 0;
    std::memcpy(&bits, &number, sizeof number);
    ++count;
    add(field, bits);
  }
  void length(unsigned field, std::size_t length) {
    ++count;
    add(field, length);
  }
  void record(unsigned field, const Digest &inner) {
    count += inner.count;
    add(field, inner.hash);
  }

 private:
  void add(unsigned field, std::uint64_t bits) {
    hash += mix(bits + (std::uint64_t{field} + 1) * 0x9e3779b97f4a7c15u);
  }
  // The finalizer of SplitMix64.
  static std::uint64_t mix(std::uint64_t bits) {
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9u;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111ebu;
    return bits ^ (bits >> 31);
  }
};

}  // namespace wiregauge
