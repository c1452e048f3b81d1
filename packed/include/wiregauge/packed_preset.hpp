// What people want of the scans of a sensor, under a name (docs/packed.md):
// PackOptions::presets takes them, and columns that a caller reduces by itself
// may be asked for one by one.
#pragma once

#include <array>
#include <cstddef>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>

#include "wiregauge/packed.hpp"

namespace wiregauge::packed {

// A column's resolution, in its unit.
struct Resolution {
  std::string_view column;
  double step;
};

// Resolutions of columns under a name; all other columns are exact.
struct Preset {
  std::string_view name;
  std::array<Kind, 2> kinds;  // of which rows it tells; points are anybody's
  const Resolution *resolutions = nullptr;
  std::size_t count = 0;

  const Resolution *begin() const { return resolutions; }
  const Resolution *end() const { return resolutions + count; }

  bool is_for(Kind kind) const { return kind == kinds[0] || kind == kinds[1]; }

  // Without one every bit of the column is kept.
  std::optional<double> resolution(std::string_view column) const {
    for (const Resolution &one : *this) {
      if (one.column == column) return one.step;
    }
    return std::nullopt;
  }
};

namespace detail {

inline constexpr double kAngle = 3.14159265358979323846 / 18000.0;  // a hundredth of a degree

inline constexpr Resolution kLidar1mm[] = {
    {"time_of_flight", 6.67e-12},  // 1 mm there and back
    {"signal_strength", 0.1},
    {"position.distance", 1e-3},
    {"x", 1e-3},
    {"y", 1e-3},
    {"z", 1e-3},
};

inline constexpr Resolution kRadar1cm[] = {
    {"time_of_flight", 6.67e-11},
    {"signal_strength", 0.1},
    {"doppler_shift", 5.0},  // 1 cm/s at 77 GHz
    {"source_horizontal_angle", kAngle},
    {"source_vertical_angle", kAngle},
    {"position.distance", 0.01},
    {"position.azimuth", kAngle},
    {"position.elevation", kAngle},
    {"radial_velocity", 0.01},
    {"rcs", 0.1},
    {"snr", 0.1},
    {"x", 0.01},
    {"y", 0.01},
    {"z", 0.01},
};

inline constexpr std::array kLidar{Kind::lidar_reflections, Kind::lidar_detections};
inline constexpr std::array kRadar{Kind::radar_reflections, Kind::radar_detections};

}  // namespace detail

// All of them.
inline constexpr std::array<Preset, 4> kPresets{{
    {"lidar-1mm", detail::kLidar, detail::kLidar1mm, std::size(detail::kLidar1mm)},
    {"lidar-exact", detail::kLidar},
    {"radar-1cm", detail::kRadar, detail::kRadar1cm, std::size(detail::kRadar1cm)},
    {"radar-exact", detail::kRadar},
}};

// The preset of a name; null where there is none, which pack() refuses.
inline const Preset *preset(std::string_view name) {
  for (const Preset &one : kPresets) {
    if (one.name == name) return &one;
  }
  return nullptr;
}

namespace detail {

// Their names, for who has given another.
inline std::string preset_names() {
  std::string names;
  for (const Preset &one : kPresets) {
    if (!names.empty()) names += ", ";
    names += one.name;
  }
  return names;
}

}  // namespace detail

}  // namespace wiregauge::packed
