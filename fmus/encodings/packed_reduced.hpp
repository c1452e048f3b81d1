// The packed field with reflections reduced to a millimetre and a tenth of a decibel.
#pragma once

#include "encodings/packed.hpp"

namespace wiregauge {

struct Millimetre {
  static constexpr double kStrength = 0.1;  // dB
  // There and back: 2 * 0.001 m / 299792458 m/s.
  static constexpr double kTime = 0.002 / 299792458;
};

using PackedReduced = PackedAs<columns::Reducing<Millimetre>>;

}  // namespace wiregauge
