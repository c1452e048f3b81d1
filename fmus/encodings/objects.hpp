// FlatBuffers' Object API: plain structures that are filled and then packed
// into tables. What is written is what tables write, only in another order.
//
// Messages are read in place as those of tables, as in the reference: its models
// used the Object API for what they make.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "encodings/flatbuffers.hpp"

namespace wiregauge {
namespace objects {

// The object behind a pointer. Those of the step before are used again.
template <class T>
T &have(std::unique_ptr<T> &object) {
  if (!object) object = std::make_unique<T>();
  return *object;
}

inline void write(const Vector &from, osi3::Vector3dT &to) {
  to.x = from.x;
  to.y = from.y;
  to.z = from.z;
}

inline void write(const Dimension &from, osi3::Dimension3dT &to) {
  to.length = from.length;
  to.width = from.width;
  to.height = from.height;
}

inline void write(const Orientation &from, osi3::Orientation3dT &to) {
  to.roll = from.roll.value_or(0);
  to.pitch = from.pitch.value_or(0);
  to.yaw = from.yaw.value_or(0);
}

inline void write(std::uint64_t from, osi3::IdentifierT &to) { to.value = from; }

inline void write(const Timestamp &from, osi3::TimestampT &to) {
  to.seconds = from.seconds;
  to.nanos = from.nanos;
}

inline void write(const Version &from, osi3::InterfaceVersionT &to) {
  to.version_major = from.major;
  to.version_minor = from.minor;
  to.version_patch = from.patch;
}

inline void write(const Classification &from, osi3::VehicleClassificationT &to) {
  to.type_value = from.type.value_or(0);
  if (from.indicator || from.brake_light) {
    osi3::LightStateT &light = have(to.light_state);
    light.indicator_state = from.indicator.value_or(0);
    light.brake_light_state = from.brake_light.value_or(0);
  } else {
    to.light_state.reset();
  }
}

// What is not set must not be left from the step before.
template <class From, class To>
void write(const std::optional<From> &from, std::unique_ptr<To> &to) {
  if (from) {
    write(*from, have(to));
  } else {
    to.reset();
  }
}

inline void write(const Base &from, osi3::BaseMovingT &to) {
  write(from.dimension, to.dimension);
  write(from.position, to.position);
  write(from.velocity, to.velocity);
  write(from.acceleration, to.acceleration);
  write(from.orientation, to.orientation);
  write(from.orientation_rate, to.orientation_rate);
}

inline void write(const Object &from, osi3::MovingObjectT &to) {
  write(from.id, have(to.id));
  to.type_value = from.type.value_or(0);
  write(from.classification, to.vehicle_classification);
  if (from.bbcenter_to_rear) {
    write(*from.bbcenter_to_rear, have(have(to.vehicle_attributes).bbcenter_to_rear));
  } else {
    to.vehicle_attributes.reset();
  }
  write(from.base, have(to.base));
}

// A vector of `count` objects, some of them perhaps from the step before.
template <class T>
std::vector<std::unique_ptr<T>> &sized(std::vector<std::unique_ptr<T>> &objects,
                                       std::size_t count) {
  objects.resize(count);
  return objects;
}

// A structure going out, and what it is packed into.
template <class Message>
class Out : public flat::Out {
 public:
  explicit Out(bool fresh) : flat::Out(fresh), fresh_(fresh) {
    if (!fresh) message_ = std::make_unique<Message>();
  }

  void begin() {
    flat::Out::begin();
    if (fresh_) message_ = std::make_unique<Message>();
  }

  Bytes serialize() { return finish(Message::TableType::Pack(builder(), message_.get())); }

  void drop() {
    if (fresh_) message_.reset();
  }

 protected:
  std::unique_ptr<Message> message_;

 private:
  bool fresh_;
};

}  // namespace objects

struct FlatbuffersObjects {
  static std::optional<Timestamp> timestamp(Bytes bytes) { return flat::timestamp(bytes); }

  // A message that is made into objects and packed anew.
  class SensorViewRelay : public objects::Out<osi3::SensorViewT> {
   public:
    using Out::Out;

    void parse(Bytes bytes) {
      turn();
      begin();
      const auto *view =
          flat::root<osi3::SensorView>(bytes, true, "osi3::SensorView in FlatBuffers");
      view->UnPackTo(&*message_);
    }
  };

  class SensorViewOut : public objects::Out<osi3::SensorViewT> {
   public:
    using Out::Out;

    template <class F>
    void lidar(const LidarConfiguration &from, std::uint32_t count, F reflection) {
      auto &lidar = objects::have(objects::sized(message_->lidar_sensor_view, 1)[0]);
      auto &configuration = objects::have(lidar.view_configuration);
      configuration.field_of_view_horizontal = from.horizontal;
      configuration.field_of_view_vertical = from.vertical;
      objects::write(from.position,
                     objects::have(objects::have(configuration.mounting_position).position));
      auto &reflections = objects::sized(lidar.reflection, count);
      for (std::uint32_t i = 0; i < count; ++i) {
        const Reflection value = reflection(i);
        auto &to = objects::have(reflections[i]);
        to.signal_strength = value.signal_strength;
        to.time_of_flight = value.time_of_flight;
      }
    }

    template <class F>
    void objects(std::uint32_t count, F object) {
      auto &truth = objects::have(message_->global_ground_truth);
      auto &moving = objects::sized(truth.moving_object, count);
      for (std::uint32_t i = 0; i < count; ++i) {
        objects::write(object(i), objects::have(moving[i]));
      }
    }

    void end(const View &view) {
      objects::write(view.version, message_->version);
      objects::write(view.timestamp, objects::have(message_->timestamp));
      objects::write(view.sensor_id, objects::have(message_->sensor_id));
      objects::write(view.host_vehicle_id, objects::have(message_->host_vehicle_id));
      auto &truth = objects::have(message_->global_ground_truth);
      objects::write(view.timestamp, objects::have(truth.timestamp));
      objects::write(view.host_vehicle_id, objects::have(truth.host_vehicle_id));
    }
  };

  using SensorViewIn = flat::SensorViewIn;

  class SensorDataOut : public objects::Out<osi3::SensorDataT> {
   public:
    using Out::Out;

    void begin(const View &view) {
      Out::begin();
      objects::write(view.version, message_->version);
      objects::write(view.timestamp, objects::have(message_->timestamp));
      objects::write(view.sensor_id, objects::have(message_->sensor_id));
      detections_ = nullptr;
    }

    void begin_objects(std::size_t most) {
      objects::sized(message_->moving_object, most);
      count_ = 0;
    }
    void object(const DetectedObject &from) {
      auto &to = objects::have(message_->moving_object[count_++]);
      auto &header = objects::have(to.header);
      objects::write(from.ground_truth_id,
                     objects::have(objects::sized(header.ground_truth_id, 1)[0]));
      objects::write(from.tracking_id, objects::have(header.tracking_id));
      header.existence_probability = from.existence_probability;
      header.measurement_state = from.measurement_state;
      objects::write(from.sensor_id, objects::have(objects::sized(header.sensor_id, 1)[0]));
      auto &base = objects::have(to.base);
      objects::write(from.position, objects::have(base.position));
      objects::write(from.dimension, objects::have(base.dimension));
      auto &candidate = objects::have(objects::sized(to.candidate, 1)[0]);
      candidate.type_value = from.candidate_type;
      candidate.probability = from.candidate_probability;
    }
    void end_objects() { message_->moving_object.resize(count_); }

    // At most so many follow.
    void begin_detections(std::size_t most) {
      auto &features = objects::have(message_->feature_data);
      auto &lidar = objects::have(objects::sized(features.lidar_sensor, 1)[0]);
      detections_ = &objects::sized(lidar.detection, most);
      count_ = 0;
    }
    void detection(const Spherical &from) {
      auto &to = objects::have(objects::have((*detections_)[count_++]).position);
      to.distance = from.distance;
      to.azimuth = from.azimuth;
      to.elevation = from.elevation;
    }
    void end_detections() { detections_->resize(count_); }

    void end() {
      if (detections_ == nullptr) message_->feature_data.reset();
    }

   private:
    std::vector<std::unique_ptr<osi3::LidarDetectionT>> *detections_ = nullptr;
    std::size_t count_ = 0;
  };

  class TrafficUpdateOut : public objects::Out<osi3::TrafficUpdateT> {
   public:
    using Out::Out;

    void end(const View &view, const Object &agent) {
      objects::write(view.version, message_->version);
      objects::write(view.timestamp, objects::have(message_->timestamp));
      objects::write(agent, objects::have(objects::sized(message_->update, 1)[0]));
    }
  };
};

}  // namespace wiregauge
