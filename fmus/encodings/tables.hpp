// FlatBuffers tables: each vector and each identifier is a table of its own.
#pragma once

#include <cstdint>
#include <vector>

#include "encodings/flatbuffers.hpp"

namespace wiregauge {

struct Tables {
  using Builder = flat::Builder;

  static auto vector(Builder &builder, const Vector &from) {
    return osi3::CreateVector3d(builder, from.x, from.y, from.z);
  }
  static auto dimension(Builder &builder, const Dimension &from) {
    return osi3::CreateDimension3d(builder, from.length, from.width, from.height);
  }
  static auto orientation(Builder &builder, const Orientation &from) {
    return osi3::CreateOrientation3d(builder, from.roll.value_or(0), from.pitch.value_or(0),
                                     from.yaw.value_or(0));
  }
  static auto spherical(Builder &builder, const Spherical &from) {
    return osi3::CreateSpherical3d(builder, from.distance, from.azimuth, from.elevation);
  }
  static auto identifier(Builder &builder, std::uint64_t from) {
    return osi3::CreateIdentifier(builder, from);
  }
  static auto timestamp(Builder &builder, const Timestamp &from) {
    return osi3::CreateTimestamp(builder, from.seconds, from.nanos);
  }

  template <class T>
  static flat::Offset<T> pass(flat::Offset<T> offset) {
    return offset;
  }

  static auto identifiers(Builder &builder, std::uint64_t from) {
    const auto one = identifier(builder, from);
    return builder.CreateVector(&one, 1);
  }

  template <class F>
  auto reflections(Builder &builder, std::uint32_t count, F reflection) {
    offsets.clear();
    offsets.reserve(count);
    for (std::uint32_t i = 0; i < count; ++i) {
      const Reflection from = reflection(i);
      osi3::LidarSensorViewReflectionBuilder to(builder);
      // As the reference's source does: then a reflection's table has the layout of a
      // vector's, and shares its description.
      to.add_time_of_flight(from.time_of_flight);
      to.add_signal_strength(from.signal_strength);
      offsets.push_back(to.Finish());
    }
    return builder.CreateVector(offsets);
  }

  std::vector<flat::Offset<osi3::LidarSensorViewReflection>> offsets;
};

using FlatbuffersTables = Flatbuffers<Tables>;

}  // namespace wiregauge
