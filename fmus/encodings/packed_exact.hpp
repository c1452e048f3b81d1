// The packed field with reflections reduced without loss.
#pragma once

#include "encodings/packed.hpp"

namespace wiregauge {

struct EveryBit {
  static constexpr double kStrength = 0;
  static constexpr double kTime = 0;
};

using PackedExact = PackedAs<columns::Reducing<EveryBit>>;

}  // namespace wiregauge
