// Octets, which LCM has within records only.
#pragma once

#include "wiregauge/c_struct.hpp"

namespace c_struct {

// Octets, as the record that the definition has for them.
template <class Octets>
struct OctetsGlue {
  using From = std::vector<std::uint8_t>;
  using To = Octets;
  static constexpr bool kSame = false;
  static void fill(const From &from, To &to, Arena &arena) {
    fill_list(from, to.data, to.data_count, arena);
  }
  static void take(const To &from, From &to) { take_list(span(from.data, from.data_count), to); }
  template <class Tally>
  static void tally(const To &from, unsigned place, Tally &tally) {
    tally.length(place, span(from.data, from.data_count).count);
  }
};

}  // namespace c_struct
