// The agent: a pedestrian that every object pushes away, a TrafficUpdate of it.
//
// The loop is open: where the pedestrian is comes from its own steps, never
// from the input, so that each message is judged alike.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>

#include "message.hpp"
#include "model.hpp"
#include "models/log.hpp"

namespace wiregauge {

template <class Encoding>
class Pedestrian : public Model {
 public:
  static constexpr unsigned kParameters[] = {kFresh, kVerify, kLog};

  explicit Pedestrian(const Parameters &parameters)
      : in_(parameters.fresh, parameters.verify), out_(parameters.fresh) {
    open_log(log_, parameters.log,
             {{"osi3::SensorView", kInput + kSizeOffset},
              {"osi3::TrafficUpdate", kOutput + kSizeOffset}});
  }

  Output step(double time, Bytes input) override {
    out_.turn();
    log_.drop_step();
    log_.stamp(PerformanceLog::kStartDeserialize, kIn);
    in_.parse(input);
    log_.stamp(PerformanceLog::kStopDeserialize, kIn);

    out_.begin();
    View view = in_.view();
    walk(time, view.host_vehicle_id);
    view.timestamp = Timestamp::of(time);
    Object agent{};
    agent.id = view.host_vehicle_id;
    agent.type = kObjectPedestrian;
    agent.base.dimension = {0.4, 0.6, 1.8};
    agent.base.position = {x_, y_, 0.9};
    agent.base.velocity = {vx_, vy_, 0};
    agent.base.orientation = {0, 0, std::atan2(vy_, vx_)};
    out_.end(view, agent);

    log_.stamp(PerformanceLog::kStartSerialize, kOut);
    const Output output{out_.serialize(), true, 1};
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

  // A social force: the wish to walk along x, and from each object a push that
  // falls with the square of the distance to an ellipsoid of its size.
  void walk(double time, std::uint64_t self) {
    constexpr double kSpeed = 1.4;       // m/s
    constexpr double kRelaxation = 0.5;  // s
    constexpr double kPush = 2;          // m³/s²
    double fx = (kSpeed - vx_) / kRelaxation;
    double fy = -vy_ / kRelaxation;
    const std::size_t count = in_.objects();
    for (std::size_t i = 0; i < count; ++i) {
      const auto object = in_.object(i);
      if (object.id() == self) continue;
      const Vector position = object.position();
      const Dimension size = object.dimension();
      const Vector turned = object.orientation();
      // Half angles by their first terms: the turn only has to be looked at.
      const double half = 0.5 * turned.z;
      const double cosine = (1 - half * half) / (1 + half * half);
      const double sine = 2 * half / (1 + half * half);
      const double dx = x_ - position.x;
      const double dy = y_ - position.y;
      const double along = (cosine * dx + sine * dy) / (0.5 * size.length + 0.3);
      const double across = (cosine * dy - sine * dx) / (0.5 * size.width + 0.3);
      const double height = 0.1 * (turned.x + turned.y) + size.height - position.z;
      const double distance = std::sqrt(along * along + across * across) + 0.1;
      const double push = kPush / (distance * distance * distance * (1 + height * height));
      fx += push * dx;
      fy += push * dy;
    }
    const double step = started_ ? time - time_ : 0;
    started_ = true;
    time_ = time;
    vx_ += step * fx;
    vy_ += step * fy;
    const double speed = std::sqrt(vx_ * vx_ + vy_ * vy_);
    if (speed > kFastest) {
      vx_ *= kFastest / speed;
      vy_ *= kFastest / speed;
    }
    x_ += step * vx_;
    y_ += step * vy_;
  }

  static constexpr double kFastest = 2;  // m/s

  double x_ = 0;
  double y_ = 0;
  double vx_ = 0;
  double vy_ = 0;
  double time_ = 0;
  bool started_ = false;
  typename Encoding::SensorViewIn in_;
  typename Encoding::TrafficUpdateOut out_;
  PerformanceLog log_;
};

}  // namespace wiregauge
