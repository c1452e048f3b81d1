// The source: a SensorView with lidar reflections and moving objects.
#pragma once

#include <cmath>
#include <cstdint>

#include "message.hpp"
#include "model.hpp"
#include "models/log.hpp"

namespace wiregauge {

// Every reflection of every step differs from its neighbours, so that no format
// profits from equal ones. The product of a small integer and a constant is
// cheap, vectorizes on every x86-64, and is never 0, which FlatBuffers would
// leave out.
inline Reflection reflection(std::uint32_t step, std::uint32_t i) {
  const auto level = static_cast<std::int32_t>((i + 17 * step) & 1023);
  const auto range = static_cast<std::int32_t>((5 * i + 29 * step) & 4095);
  return {-15.5625 - 0.0078125 * level, 6.671281903963041e-8 + 2.5e-10 * range};
}

template <class Encoding>
class Source : public Model {
 public:
  static constexpr unsigned kParameters[] = {kReflections, kObjects, kScene, kFresh, kLog};

  explicit Source(const Parameters &parameters)
      : reflections_(static_cast<std::uint32_t>(parameters.reflections)),
        objects_(static_cast<std::uint32_t>(parameters.objects)),
        scene_(scene(parameters.scene)),
        out_(parameters.fresh) {
    if (parameters.reflections < 0) throw Failure("reflections is negative");
    if (parameters.objects < 0) throw Failure("objects is negative");
    // What the largest encoding takes, so that all have the same bound.
    if (std::uint64_t{reflections_} * 32 + std::uint64_t{objects_} * 640 > kMaximumSize) {
      throw Failure(
          "reflections and objects make a message of more than 2 GiB, which "
          "OSMPSensorViewOut.size cannot say");
    }
    open_log(log_, parameters.log, {{"osi3::SensorView", kOutput + kSizeOffset}});
  }

  Output step(double time, Bytes) override {
    out_.turn();
    log_.drop_step();
    log_.stamp(PerformanceLog::kStartCalculation, kOut);
    out_.begin();
    if (reflections_ > 0) {
      constexpr double kDegree = 0.017453292519943295;
      const std::uint32_t step = step_;
      out_.lidar({145 * kDegree, 3.2 * kDegree, {1.5205, 0, 1.232}}, reflections_,
                 [step](std::uint32_t i) { return reflection(step, i); });
    }
    if (scene_ == Scene::kPedestrian) {
      out_.objects(objects_, [](std::uint32_t i) { return bystander(i); });
    } else {
      const bool full = scene_ == Scene::kFull;
      out_.objects(objects_, [time, full](std::uint32_t i) { return vehicle(time, i, full); });
    }
    View view{};
    if (scene_ == Scene::kFull) view.version = kOsi;
    view.timestamp = Timestamp::of(time);
    view.sensor_id = 10000;
    view.host_vehicle_id = scene_ == Scene::kPedestrian ? 128 : 14;
    out_.end(view);

    log_.stamp(PerformanceLog::kStartSerialize, kOut);
    const Output output{out_.serialize(), true, static_cast<std::int32_t>(objects_)};
    log_.stamp(PerformanceLog::kStopSerialize, kOut);

    out_.drop();
    log_.end_step(time, {output.message.size});
    ++step_;
    return output;
  }

  void flush() override { log_.flush(); }

 private:
  static constexpr std::uint8_t kOut = 0;  // the message in the log

  enum class Scene { kFull, kReference, kPedestrian };

  static Scene scene(const std::string &name) {
    if (name == "full") return Scene::kFull;
    if (name == "reference") return Scene::kReference;
    if (name == "pedestrian") return Scene::kPedestrian;
    throw Failure("scene is \"" + name + "\"; there are full, reference and pedestrian");
  }

  // Ten lanes of traffic, again and again.
  static Object vehicle(double time, std::uint32_t i, bool full) {
    static constexpr double kX[10] = {0, 40, 100, 100, 0, 150, 5, 45, 85, 125};
    static constexpr double kY[10] = {3, 3, 3, 0.25, 0, -0.25, -3, -3, -3, -3};
    static constexpr double kSpeed[10] = {29, 30, 31, 25, 26, 28, 20, 22, 22.5, 23};
    // Medium, small and compact cars, a delivery van, a luxury car, a motorbike and a bus.
    static constexpr int kType[10] = {4, 2, 3, 6, 5, 4, 3, 2, 10, 12};
    const std::uint32_t lane = i % 10;
    const double v = kSpeed[lane];
    const double sine = std::sin(time / v);
    const double cosine = std::cos(time / v);
    Object object{};
    object.id = 10 + i;
    object.classification.emplace();
    if (full) {
      object.type = kObjectVehicle;
      object.classification = {kType[lane], kLightOff, kLightOff};
    }
    object.bbcenter_to_rear = {1, 0, -0.3};
    object.base.dimension = {5, 2, 1.5};
    object.base.position = {kX[lane] + time * v, kY[lane] + 0.25 * sine, 0};
    object.base.velocity = {v, 0.25 * cosine / v, 0};
    object.base.acceleration = {0, -0.25 * sine / (v * v), 0};
    object.base.orientation = {0, 0, 0};
    object.base.orientation_rate = {0, 0, 0};
    return object;
  }

  // All alike and little, as the agent's reference has them. Ids stay below
  // 128, where each takes one byte in Protobuf, so that all have one size.
  static Object bystander(std::uint32_t i) {
    Object object{};
    object.id = 1 + i % 127;
    object.base.dimension = {4.5, 1.8, 1.6};
    object.base.position = {10, 10, 10};
    object.base.orientation.emplace();
    object.base.orientation->roll = 3.141592653589793;
    return object;
  }

  std::uint32_t reflections_;
  std::uint32_t objects_;
  Scene scene_;
  std::uint32_t step_ = 0;
  typename Encoding::SensorViewOut out_;
  PerformanceLog log_;
};

}  // namespace wiregauge
