// The packed field with columns of single precision.
#pragma once

#include "encodings/packed.hpp"

namespace wiregauge {

using PackedF32 = PackedAs<columns::InPlace<float>>;

}  // namespace wiregauge
