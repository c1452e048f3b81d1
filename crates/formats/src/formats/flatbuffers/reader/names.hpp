// What all sources of a runner call by its own name. Nothing is seen outside of
// its one translation unit, so that the compiler may inline all of it. Tried
// with FlatBuffers 2.0.8, 23.5.26 and 25.12.19.
#pragma once

#include <cmath>
#include <stdexcept>
#include <string>

#include "flatbuffers/flatbuffers.h"
#include "wiregauge/codec.hpp"

#if FLATBUFFERS_VERSION_MAJOR < 2
#error "FlatBuffers is too old: 2.0.8 is the oldest that is known to work"
#endif

namespace {

using flatbuffers::FlatBufferBuilder;
using flatbuffers::Offset;
using flatbuffers::uoffset_t;
using flatbuffers::Vector;

template <class T>
[[maybe_unused]] void keep_sign(T value, const char *field) {
  if (value == 0 && std::signbit(value))
    throw wiregauge::Rejected(std::string("loses the sign of zero: ") + field + " is -0.0");
}

}  // namespace
