// FlatBuffers with structs for the common types and for reflections: they are
// written in place, and no field can be added to them later.
#pragma once

#include <cstdint>
#include <vector>

#include "encodings/flatbuffers.hpp"

namespace wiregauge {

struct Structs {
  using Builder = flat::Builder;

  static auto vector(Builder &, const Vector &from) {
    return osi3::Vector3d(from.x, from.y, from.z);
  }
  static auto dimension(Builder &, const Dimension &from) {
    return osi3::Dimension3d(from.length, from.width, from.height);
  }
  static auto orientation(Builder &, const Orientation &from) {
    return osi3::Orientation3d(from.roll.value_or(0), from.pitch.value_or(0), from.yaw.value_or(0));
  }
  static auto spherical(Builder &, const Spherical &from) {
    return osi3::Spherical3d(from.distance, from.azimuth, from.elevation);
  }
  static auto identifier(Builder &, std::uint64_t from) { return osi3::Identifier(from); }
  static auto timestamp(Builder &, const Timestamp &from) {
    return osi3::Timestamp(from.seconds, from.nanos);
  }

  template <class T>
  static const T *pass(const T &value) {
    return &value;
  }

  static auto identifiers(Builder &builder, std::uint64_t from) {
    const osi3::Identifier one(from);
    return builder.CreateVectorOfStructs(&one, 1);
  }

  template <class F>
  auto reflections(Builder &builder, std::uint32_t count, F reflection) {
    osi3::LidarSensorViewReflection *to = nullptr;
    const auto vector = builder.CreateUninitializedVectorOfStructs(count, &to);
    for (std::uint32_t i = 0; i < count; ++i) {
      const Reflection from = reflection(i);
      to[i] = osi3::LidarSensorViewReflection(from.signal_strength, from.time_of_flight, 0);
    }
    return flat::Offset<flatbuffers::Vector<const osi3::LidarSensorViewReflection *>>(vector);
  }

  std::vector<std::uint8_t> offsets;  // none
};

using FlatbuffersStructs = Flatbuffers<Structs>;

}  // namespace wiregauge
