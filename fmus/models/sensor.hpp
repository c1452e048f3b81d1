// The sensor: a lidar detection of every eighteenth reflection, and the moving
// objects as the host vehicle sees them.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "message.hpp"
#include "model.hpp"
#include "models/log.hpp"

namespace wiregauge {

// Where a vehicle is and how it is turned.
class Frame {
 public:
  Frame() = default;
  Frame(Vector position, double roll, double pitch, double yaw) : position_(position) {
    const double cr = std::cos(roll), sr = std::sin(roll);
    const double cp = std::cos(pitch), sp = std::sin(pitch);
    const double cy = std::cos(yaw), sy = std::sin(yaw);
    axes_[0] = {cy * cp, sy * cp, -sp};
    axes_[1] = {cy * sp * sr - sy * cr, sy * sp * sr + cy * cr, cp * sr};
    axes_[2] = {cy * sp * cr + sy * sr, sy * sp * cr - cy * sr, cp * cr};
  }

  Vector to_local(Vector point) const {
    const Vector d{point.x - position_.x, point.y - position_.y, point.z - position_.z};
    return {dot(axes_[0], d), dot(axes_[1], d), dot(axes_[2], d)};
  }

 private:
  static double dot(const Vector &a, const Vector &b) { return a.x * b.x + a.y * b.y + a.z * b.z; }

  Vector position_{0, 0, 0};
  Vector axes_[3] = {{1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
};

template <class Encoding>
class Sensor : public Model {
 public:
  static constexpr unsigned kParameters[] = {kFresh, kVerify, kLog};

  explicit Sensor(const Parameters &parameters)
      : in_(parameters.fresh, parameters.verify), out_(parameters.fresh) {
    open_log(
        log_, parameters.log,
        {{"osi3::SensorView", kInput + kSizeOffset}, {"osi3::SensorData", kOutput + kSizeOffset}});
  }

  Output step(double time, Bytes input) override {
    out_.turn();
    log_.drop_step();
    log_.stamp(PerformanceLog::kStartDeserialize, kIn);
    in_.parse(input);
    log_.stamp(PerformanceLog::kStopDeserialize, kIn);

    View view = in_.view();
    view.timestamp = Timestamp::of(time);
    out_.begin(view);
    const std::int32_t count = pass_on(view);
    if (in_.has_lidar()) detect();
    out_.end();

    log_.stamp(PerformanceLog::kStartSerialize, kOut);
    const Output output{out_.serialize(), true, count};
    log_.stamp(PerformanceLog::kStopSerialize, kOut);

    in_.drop();
    out_.drop();
    log_.end_step(time, {input.size, output.message.size});
    return output;
  }

  void flush() override { log_.flush(); }

 private:
  static constexpr std::uint8_t kIn = 0;  // the messages in the log
  static constexpr std::uint8_t kOut = 1;

  // A beam is 3 by 6 rays; 80 % of a layer's 1800 · 6 rays come back, and the
  // layers' 96 rows of rays look from 25° down to 15° up, as a VLP-32 does.
  static constexpr std::uint32_t kRays = 18;
  static constexpr std::uint32_t kRow = 8640;

  void detect() {
    constexpr double kDegree = 0.017453292519943295;
    constexpr double kHalfLight = 299792458.0 / 2;
    constexpr double kNoise = -100;  // dB; nothing is below
    const auto count = static_cast<std::uint32_t>(in_.reflections());
    out_.begin_detections((count + kRays - 1) / kRays);
    for (std::uint32_t i = 0; i < count; i += kRays) {
      const Reflection reflection = in_.reflection(i);
      if (!(reflection.signal_strength > kNoise)) continue;
      out_.detection({reflection.time_of_flight * kHalfLight, (i % kRow) * (0.2 / 6 * kDegree),
                      (i / kRow) * (40.0 / 96 * kDegree) - 25 * kDegree});
    }
    out_.end_detections();
  }

  // Every moving object but the host.
  std::int32_t pass_on(const View &view) {
    const std::size_t count = in_.objects();
    Frame host;
    for (std::size_t i = 0; i < count; ++i) {
      const auto object = in_.object(i);
      if (object.id() != view.host_vehicle_id) continue;
      const auto turned = object.orientation();
      host = Frame(object.position(), turned.x, turned.y, turned.z);
      break;
    }
    std::int32_t passed = 0;
    out_.begin_objects(count);
    for (std::size_t i = 0; i < count; ++i) {
      const auto object = in_.object(i);
      const std::uint64_t id = object.id();
      if (id == view.host_vehicle_id) continue;
      out_.object({id, static_cast<std::uint64_t>(passed), view.sensor_id, 1, kMeasured,
                   host.to_local(object.position()), object.dimension(), object.type(), 1});
      ++passed;
    }
    out_.end_objects();
    return passed;
  }

  typename Encoding::SensorViewIn in_;
  typename Encoding::SensorDataOut out_;
  PerformanceLog log_;
};

}  // namespace wiregauge
