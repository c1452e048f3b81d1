// Sequences, as Cyclone DDS has them in C.
#pragma once

#include "wiregauge/c_struct.hpp"

namespace c_struct {

// A sequence, as an argument of what lists have.
template <class Sequence>
auto span(const Sequence &from) {
  return span(from._buffer, from._length);
}

template <class Container, class Sequence>
void fill_list(const Container &from, Sequence &to, Arena &arena) {
  fill_list(from, to._buffer, to._length, arena);
  to._maximum = to._length;
  to._release = false;
}

// The octets of a list or of one field, by the sequence that the definition has.
template <class Sequence>
struct OctetsGlue {
  using From = std::vector<std::uint8_t>;
  using To = Sequence;
  static constexpr bool kSame = false;
  static void fill(const From &from, To &to, Arena &arena) { fill_list(from, to, arena); }
  static void take(const To &from, From &to) { take_list(span(from), to); }
  template <class Tally>
  static void tally(const To &from, unsigned place, Tally &tally) {
    tally.length(place, from._length);
  }
};

}  // namespace c_struct
