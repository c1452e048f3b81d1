// Protobuf: message objects that are filled and then serialized.
#pragma once

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/wire_format_lite.h>

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>

#include "message.hpp"
#include "model.hpp"
#include "osi3/osi_sensordata.pb.h"
#include "osi3/osi_sensorview.pb.h"
#include "osi3/osi_trafficupdate.pb.h"
#include "osmp.hpp"

namespace wiregauge {
namespace protobuf {

inline void write(const Vector &from, osi3::Vector3d *to) {
  to->set_x(from.x);
  to->set_y(from.y);
  to->set_z(from.z);
}

inline void write(const Dimension &from, osi3::Dimension3d *to) {
  to->set_length(from.length);
  to->set_width(from.width);
  to->set_height(from.height);
}

inline void write(const Orientation &from, osi3::Orientation3d *to) {
  if (from.roll) to->set_roll(*from.roll);
  if (from.pitch) to->set_pitch(*from.pitch);
  if (from.yaw) to->set_yaw(*from.yaw);
}

inline void write(const Base &from, osi3::BaseMoving *to) {
  if (from.dimension) write(*from.dimension, to->mutable_dimension());
  if (from.position) write(*from.position, to->mutable_position());
  if (from.velocity) write(*from.velocity, to->mutable_velocity());
  if (from.acceleration) write(*from.acceleration, to->mutable_acceleration());
  if (from.orientation) write(*from.orientation, to->mutable_orientation());
  if (from.orientation_rate) write(*from.orientation_rate, to->mutable_orientation_rate());
}

inline void write(const Version &from, osi3::InterfaceVersion *to) {
  to->set_version_major(from.major);
  to->set_version_minor(from.minor);
  to->set_version_patch(from.patch);
}

inline void write(const Timestamp &from, osi3::Timestamp *to) {
  to->set_seconds(from.seconds);
  to->set_nanos(from.nanos);
}

inline void write(const Object &from, osi3::MovingObject *to) {
  using Class = osi3::MovingObject::VehicleClassification;
  using Light = Class::LightState;
  to->mutable_id()->set_value(from.id);
  if (from.type) to->set_type(static_cast<osi3::MovingObject::Type>(*from.type));
  if (from.classification) {
    Class *classification = to->mutable_vehicle_classification();
    const Classification &is = *from.classification;
    if (is.type) classification->set_type(static_cast<Class::Type>(*is.type));
    if (is.indicator || is.brake_light) {
      Light *light = classification->mutable_light_state();
      if (is.indicator) {
        light->set_indicator_state(static_cast<Light::IndicatorState>(*is.indicator));
      }
      if (is.brake_light) {
        light->set_brake_light_state(static_cast<Light::BrakeLightState>(*is.brake_light));
      }
    }
  }
  if (from.bbcenter_to_rear) {
    write(*from.bbcenter_to_rear, to->mutable_vehicle_attributes()->mutable_bbcenter_to_rear());
  }
  write(from.base, to->mutable_base());
}

inline void write(const LidarConfiguration &from, osi3::LidarSensorViewConfiguration *to) {
  to->set_field_of_view_horizontal(from.horizontal);
  to->set_field_of_view_vertical(from.vertical);
  write(from.position, to->mutable_mounting_position()->mutable_position());
}

inline void write(const View &from, osi3::SensorView *to) {
  if (from.version) write(*from.version, to->mutable_version());
  write(from.timestamp, to->mutable_timestamp());
  to->mutable_sensor_id()->set_value(from.sensor_id);
  to->mutable_host_vehicle_id()->set_value(from.host_vehicle_id);
  osi3::GroundTruth *truth = to->mutable_global_ground_truth();
  write(from.timestamp, truth->mutable_timestamp());
  truth->mutable_host_vehicle_id()->set_value(from.host_vehicle_id);
}

inline void write(const DetectedObject &from, osi3::DetectedMovingObject *to) {
  osi3::DetectedItemHeader *header = to->mutable_header();
  header->add_ground_truth_id()->set_value(from.ground_truth_id);
  header->mutable_tracking_id()->set_value(from.tracking_id);
  header->set_existence_probability(from.existence_probability);
  header->set_measurement_state(
      static_cast<osi3::DetectedItemHeader::MeasurementState>(from.measurement_state));
  header->add_sensor_id()->set_value(from.sensor_id);
  write(from.position, to->mutable_base()->mutable_position());
  write(from.dimension, to->mutable_base()->mutable_dimension());
  auto *candidate = to->add_candidate();
  candidate->set_type(static_cast<osi3::MovingObject::Type>(from.candidate_type));
  candidate->set_probability(from.candidate_probability);
}

inline void write(const View &from, osi3::SensorData *to) {
  if (from.version) write(*from.version, to->mutable_version());
  write(from.timestamp, to->mutable_timestamp());
  to->mutable_sensor_id()->set_value(from.sensor_id);
}

inline View read(const osi3::SensorView &from) {
  View view{};
  if (from.has_version()) {
    const osi3::InterfaceVersion &version = from.version();
    view.version = {version.version_major(), version.version_minor(), version.version_patch()};
  }
  view.timestamp = {from.timestamp().seconds(), from.timestamp().nanos()};
  view.sensor_id = from.sensor_id().value();
  view.host_vehicle_id = from.has_host_vehicle_id()
                             ? from.host_vehicle_id().value()
                             : from.global_ground_truth().host_vehicle_id().value();
  return view;
}

// The time of a message of OSI, or of its first bytes if it is in these. Nothing else is
// parsed, and all types that FMUs exchange have it in the same field.
inline std::optional<Timestamp> timestamp(Bytes front) {
  using google::protobuf::internal::WireFormatLite;
  google::protobuf::io::CodedInputStream stream(front.data, static_cast<int>(front.size));
  const std::uint32_t wanted = WireFormatLite::MakeTag(osi3::SensorView::kTimestampFieldNumber,
                                                       WireFormatLite::WIRETYPE_LENGTH_DELIMITED);
  while (const std::uint32_t tag = stream.ReadTag()) {
    if (tag != wanted) {
      if (!WireFormatLite::SkipField(&stream, tag)) break;
      continue;
    }
    std::uint32_t size = 0;
    osi3::Timestamp found;
    if (!stream.ReadVarint32(&size)) break;
    const auto limit = stream.PushLimit(static_cast<int>(size));
    if (!found.MergeFromCodedStream(&stream) || stream.BytesUntilLimit() != 0) break;
    stream.PopLimit(limit);
    return Timestamp{found.seconds(), found.nanos()};
  }
  return std::nullopt;
}

// A moving object that is read in place. What is absent is OSI's default.
class ObjectIn {
 public:
  explicit ObjectIn(const osi3::MovingObject &object) : object_(object) {}

  std::uint64_t id() const { return object_.id().value(); }
  int type() const { return object_.type(); }
  Vector position() const {
    const osi3::Vector3d &at = object_.base().position();
    return {at.x(), at.y(), at.z()};
  }
  Dimension dimension() const {
    const osi3::Dimension3d &size = object_.base().dimension();
    return {size.length(), size.width(), size.height()};
  }
  // Roll, pitch and yaw.
  Vector orientation() const {
    const osi3::Orientation3d &turned = object_.base().orientation();
    return {turned.roll(), turned.pitch(), turned.yaw()};
  }

 private:
  const osi3::MovingObject &object_;
};

// A message object, kept from step to step or fresh for each.
template <class Message>
class Kept {
 public:
  explicit Kept(bool fresh) : fresh_(fresh) {
    if (!fresh_) message_ = std::make_unique<Message>();
  }

  // The next step's, empty.
  void begin() {
    if (fresh_) {
      message_ = std::make_unique<Message>();
    } else {
      message_->Clear();
    }
  }

  void drop() {
    if (fresh_) message_.reset();
  }

  Message &operator*() { return *message_; }
  Message *operator->() { return message_.get(); }
  const Message &operator*() const { return *message_; }
  const Message *operator->() const { return message_.get(); }

 private:
  bool fresh_;
  std::unique_ptr<Message> message_;
};

// A message going out, in an object that is kept as `Store` does.
template <class Message, template <class> class Store>
class Out {
 public:
  explicit Out(bool fresh) : message_(fresh), fresh_(fresh) {}

  void turn() {
    buffers_.turn();
    if (fresh_) buffers_.current().release();
  }
  void begin() { message_.begin(); }
  void drop() { message_.drop(); }

  Bytes serialize() {
    const std::size_t size = message_->ByteSizeLong();
    if (size > kMaximumSize) throw too_large();
    std::uint8_t *data = buffers_.current().reserve(size);
    message_->SerializeWithCachedSizesToArray(data);
    return {data, size};
  }

 protected:
  Store<Message> message_;

 private:
  bool fresh_;
  Double<Buffer> buffers_;
};

}  // namespace protobuf

template <template <class> class Store>
struct ProtobufIn {
  static std::optional<Timestamp> timestamp(Bytes front) { return protobuf::timestamp(front); }

  // A message that is parsed and written anew.
  class SensorViewRelay : public protobuf::Out<osi3::SensorView, Store> {
    using Base = protobuf::Out<osi3::SensorView, Store>;

   public:
    using Base::Base;

    void parse(Bytes bytes) {
      this->turn();
      this->begin();
      if (!this->message_->ParseFromArray(bytes.data, static_cast<int>(bytes.size))) {
        throw unreadable("osi3::SensorView", bytes);
      }
    }
  };

  class SensorViewOut : public protobuf::Out<osi3::SensorView, Store> {
    using Base = protobuf::Out<osi3::SensorView, Store>;

   public:
    using Base::Base;

    template <class F>
    void lidar(const LidarConfiguration &configuration, std::uint32_t count, F reflection) {
      osi3::LidarSensorView *lidar = this->message_->add_lidar_sensor_view();
      protobuf::write(configuration, lidar->mutable_view_configuration());
      lidar->mutable_reflection()->Reserve(static_cast<int>(count));
      for (std::uint32_t i = 0; i < count; ++i) {
        const Reflection from = reflection(i);
        osi3::LidarSensorView::Reflection *to = lidar->add_reflection();
        to->set_signal_strength(from.signal_strength);
        to->set_time_of_flight(from.time_of_flight);
      }
    }

    template <class F>
    void objects(std::uint32_t count, F object) {
      osi3::GroundTruth *truth = this->message_->mutable_global_ground_truth();
      truth->mutable_moving_object()->Reserve(static_cast<int>(count));
      for (std::uint32_t i = 0; i < count; ++i) {
        protobuf::write(object(i), truth->add_moving_object());
      }
    }

    void end(const View &view) { protobuf::write(view, &*this->message_); }
  };

  class SensorViewIn {
   public:
    // Parsing checks all that there is to check.
    SensorViewIn(bool fresh, bool) : message_(fresh) {}

    void parse(Bytes bytes) {
      message_.begin();
      if (!message_->ParseFromArray(bytes.data, static_cast<int>(bytes.size))) {
        throw unreadable("osi3::SensorView", bytes);
      }
    }
    void drop() { message_.drop(); }

    View view() const { return protobuf::read(*message_); }
    bool has_lidar() const { return message_->lidar_sensor_view_size() > 0; }
    std::size_t reflections() const {
      return static_cast<std::size_t>(message_->lidar_sensor_view(0).reflection_size());
    }
    Reflection reflection(std::uint32_t i) const {
      const auto &at = message_->lidar_sensor_view(0).reflection(static_cast<int>(i));
      return {at.signal_strength(), at.time_of_flight()};
    }
    std::size_t objects() const {
      return static_cast<std::size_t>(message_->global_ground_truth().moving_object_size());
    }
    protobuf::ObjectIn object(std::size_t i) const {
      return protobuf::ObjectIn(message_->global_ground_truth().moving_object(static_cast<int>(i)));
    }

   private:
    Store<osi3::SensorView> message_;
  };

  class SensorDataOut : public protobuf::Out<osi3::SensorData, Store> {
    using Base = protobuf::Out<osi3::SensorData, Store>;

   public:
    using Base::Base;

    void begin(const View &view) {
      Base::begin();
      protobuf::write(view, &*this->message_);
    }

    // At most so many follow.
    void begin_detections(std::size_t most) {
      detections_ = this->message_->mutable_feature_data()->add_lidar_sensor()->mutable_detection();
      detections_->Reserve(static_cast<int>(most));
    }
    void detection(const Spherical &from) {
      osi3::Spherical3d *to = detections_->Add()->mutable_position();
      to->set_distance(from.distance);
      to->set_azimuth(from.azimuth);
      to->set_elevation(from.elevation);
    }
    void end_detections() {}

    void begin_objects(std::size_t most) {
      this->message_->mutable_moving_object()->Reserve(static_cast<int>(most));
    }
    void object(const DetectedObject &from) {
      protobuf::write(from, this->message_->add_moving_object());
    }
    void end_objects() {}

    void end() {}

   private:
    google::protobuf::RepeatedPtrField<osi3::LidarDetection> *detections_ = nullptr;
  };

  class TrafficUpdateOut : public protobuf::Out<osi3::TrafficUpdate, Store> {
    using Base = protobuf::Out<osi3::TrafficUpdate, Store>;

   public:
    using Base::Base;

    void end(const View &view, const Object &agent) {
      if (view.version) protobuf::write(*view.version, this->message_->mutable_version());
      protobuf::write(view.timestamp, this->message_->mutable_timestamp());
      protobuf::write(agent, this->message_->add_update());
    }
  };
};

using Protobuf = ProtobufIn<protobuf::Kept>;

}  // namespace wiregauge
