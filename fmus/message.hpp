// What the models say and hear, as plain values: OSI without an encoding.
//
// A model makes and takes these; an encoding writes what is set of them, and
// nothing else, and reads one value when it is asked for it.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>

namespace wiregauge {

// OSI's enumerations, as far as the models use them.
constexpr int kObjectVehicle = 2;
constexpr int kObjectPedestrian = 3;
constexpr int kMeasured = 2;
constexpr int kLightOff = 2;  // the same number for indicators and brake lights

struct Version {
  std::uint32_t major;
  std::uint32_t minor;
  std::uint32_t patch;
};

constexpr Version kOsi{3, 8, 0};

struct Timestamp {
  std::int64_t seconds;
  std::uint32_t nanos;

  static Timestamp of(double time) {
    // To the nanosecond: 0.3 s are 300,000,000 ns, though the double is less.
    auto nanos = static_cast<std::int64_t>(std::llround(time * 1e9));
    auto seconds = nanos / 1000000000;
    nanos -= seconds * 1000000000;
    if (nanos < 0) {
      nanos += 1000000000;
      --seconds;
    }
    return {seconds, static_cast<std::uint32_t>(nanos)};
  }
};

struct Vector {
  double x;
  double y;
  double z;
};

struct Dimension {
  double length;
  double width;
  double height;
};

struct Orientation {
  std::optional<double> roll;
  std::optional<double> pitch;
  std::optional<double> yaw;
};

struct Spherical {
  double distance;
  double azimuth;
  double elevation;
};

struct Base {
  std::optional<Dimension> dimension;
  std::optional<Vector> position;
  std::optional<Vector> velocity;
  std::optional<Vector> acceleration;
  std::optional<Orientation> orientation;
  std::optional<Orientation> orientation_rate;
};

struct Classification {
  std::optional<int> type;
  std::optional<int> indicator;
  std::optional<int> brake_light;
};

struct Object {
  std::uint64_t id;
  std::optional<int> type;
  std::optional<Classification> classification;
  std::optional<Vector> bbcenter_to_rear;
  Base base;
};

struct Reflection {
  double signal_strength;
  double time_of_flight;
};

struct LidarConfiguration {
  double horizontal;  // fields of view, in rad
  double vertical;
  Vector position;
};

// What a SensorView says besides its sensors' data and objects.
struct View {
  std::optional<Version> version;
  Timestamp timestamp;
  std::uint64_t sensor_id;
  std::uint64_t host_vehicle_id;
};

struct DetectedObject {
  std::uint64_t ground_truth_id;
  std::uint64_t tracking_id;
  std::uint64_t sensor_id;
  double existence_probability;
  int measurement_state;
  Vector position;
  Dimension dimension;
  int candidate_type;
  double candidate_probability;
};

}  // namespace wiregauge
