// FlatBuffers: what all of its encodings share. Building is serializing, so a
// message is finished all but for its root when generation ends.
//
// `Common` says how the common types are held (Vector3d, Identifier and so on):
// as tables, which are written first and then referred to, or as structs, which
// are part of the table that they belong to. `osi_generated.h` comes from the
// schema of the same kind. Objects are written in the order of the reference's
// source, on which the padding between them depends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "message.hpp"
#include "model.hpp"
#include "osi_generated.h"
#include "osmp.hpp"

namespace wiregauge {
namespace flat {

using Builder = flatbuffers::FlatBufferBuilder;
template <class T>
using Offset = flatbuffers::Offset<T>;

// A builder going out; it holds the output, so there are two.
class Out {
 public:
  explicit Out(bool fresh) : fresh_(fresh) {
    if (fresh) return;
    for (int i = 0; i < 2; ++i, builders_.turn()) {
      builders_.current() = std::make_unique<Builder>(kInitialSize);
    }
  }

  void turn() {
    builders_.turn();
    if (fresh_) builders_.current().reset();
  }

  void begin() {
    if (fresh_) {
      builders_.current() = std::make_unique<Builder>(kInitialSize);
    } else {
      builders_.current()->Clear();
    }
  }

 protected:
  static constexpr std::size_t kInitialSize = 1024;

  Builder &builder() { return *builders_.current(); }

  template <class T>
  Bytes finish(Offset<T> root) {
    builder().Finish(root);
    return {builder().GetBufferPointer(), builder().GetSize()};
  }

  // Offsets are gathered before their vector is written.
  template <class T>
  void drop(std::vector<T> &offsets) {
    if (fresh_) std::vector<T>().swap(offsets);
  }

 private:
  bool fresh_;
  Double<std::unique_ptr<Builder>> builders_;
};

// A moving object that is read in place. What is absent is OSI's default.
class ObjectIn {
 public:
  explicit ObjectIn(const osi3::MovingObject *object) : object_(object), base_(object->base()) {}

  std::uint64_t id() const {
    const auto *id = object_->id();
    return id == nullptr ? 0 : id->value();
  }
  int type() const { return object_->type_value(); }
  Vector position() const {
    const auto *at = base_ == nullptr ? nullptr : base_->position();
    return at == nullptr ? Vector{0, 0, 0} : Vector{at->x(), at->y(), at->z()};
  }
  Dimension dimension() const {
    const auto *size = base_ == nullptr ? nullptr : base_->dimension();
    return size == nullptr ? Dimension{0, 0, 0}
                           : Dimension{size->length(), size->width(), size->height()};
  }
  // Roll, pitch and yaw.
  Vector orientation() const {
    const auto *turned = base_ == nullptr ? nullptr : base_->orientation();
    return turned == nullptr ? Vector{0, 0, 0}
                             : Vector{turned->roll(), turned->pitch(), turned->yaw()};
  }

 private:
  const osi3::MovingObject *object_;
  const osi3::BaseMoving *base_;
};

// The root of a message, after a look at what reading relies on first. That
// keeps out what is no FlatBuffer; only the verifier keeps out damaged ones.
template <class Root>
const Root *root(Bytes bytes, bool verify, const char *type) {
  if (verify) {
    // The limit on tables is there against small messages that expand; one of a
    // million reflections has more than the default allows.
    flatbuffers::Verifier verifier(bytes.data, bytes.size, 64,
                                   static_cast<flatbuffers::uoffset_t>(bytes.size));
    if (!verifier.VerifyBuffer<Root>(nullptr)) throw unreadable(type, bytes);
    return flatbuffers::GetRoot<Root>(bytes.data);
  }
  const std::int64_t size = static_cast<std::int64_t>(bytes.size);
  const std::int64_t table =
      size < 8 ? size : flatbuffers::ReadScalar<flatbuffers::uoffset_t>(bytes.data);
  if (table > size - 4) throw unreadable(type, bytes);
  const std::int64_t vtable =
      table - flatbuffers::ReadScalar<flatbuffers::soffset_t>(bytes.data + table);
  if (vtable < 4 || vtable > size - 4) throw unreadable(type, bytes);
  return flatbuffers::GetRoot<Root>(bytes.data);
}

// The time of a SensorView: of a whole one, as a table may be anywhere.
inline std::optional<Timestamp> timestamp(Bytes bytes) {
  flatbuffers::Verifier verifier(bytes.data, bytes.size, 64,
                                 static_cast<flatbuffers::uoffset_t>(bytes.size));
  if (!verifier.VerifyBuffer<osi3::SensorView>(nullptr)) return std::nullopt;
  const auto *time = flatbuffers::GetRoot<osi3::SensorView>(bytes.data)->timestamp();
  if (time == nullptr) return std::nullopt;
  return Timestamp{time->seconds(), time->nanos()};
}

// What is read in place is not parsed: it can only be handed on as it is.
class SensorViewRelay {
 public:
  explicit SensorViewRelay(bool) {
    throw Failure(
        "parse: FlatBuffers are read in place, there is nothing to parse; the FMU of "
        "the Object API makes objects of them");
  }
  void parse(Bytes) {}
  Bytes serialize() { return {}; }
  void drop() {}
};

// A SensorView that is read in place.
class SensorViewIn {
 public:
  SensorViewIn(bool, bool verify) : verify_(verify) {}

  void parse(Bytes bytes) {
    view_ = root<osi3::SensorView>(bytes, verify_, "osi3::SensorView in FlatBuffers");
    truth_ = view_->global_ground_truth();
    objects_ = truth_ == nullptr ? nullptr : truth_->moving_object();
    const auto *lidars = view_->lidar_sensor_view();
    has_lidar_ = lidars != nullptr && lidars->size() > 0;
    reflections_ = has_lidar_ ? lidars->Get(0)->reflection() : nullptr;
  }
  void drop() {}

  View view() const {
    View view{};
    if (const auto *version = view_->version()) {
      view.version = {version->version_major(), version->version_minor(), version->version_patch()};
    }
    if (const auto *time = view_->timestamp()) view.timestamp = {time->seconds(), time->nanos()};
    if (const auto *id = view_->sensor_id()) view.sensor_id = id->value();
    const auto *host = view_->host_vehicle_id();
    if (host == nullptr && truth_ != nullptr) host = truth_->host_vehicle_id();
    if (host != nullptr) view.host_vehicle_id = host->value();
    return view;
  }

  bool has_lidar() const { return has_lidar_; }
  std::size_t reflections() const { return reflections_ == nullptr ? 0 : reflections_->size(); }
  Reflection reflection(std::uint32_t i) const {
    const auto *at = reflections_->Get(i);
    return {at->signal_strength(), at->time_of_flight()};
  }
  std::size_t objects() const { return objects_ == nullptr ? 0 : objects_->size(); }
  ObjectIn object(std::size_t i) const {
    return ObjectIn(objects_->Get(static_cast<flatbuffers::uoffset_t>(i)));
  }

 private:
  using Reflections = decltype(std::declval<osi3::LidarSensorView>().reflection());
  using Objects = decltype(std::declval<osi3::GroundTruth>().moving_object());

  bool verify_;
  const osi3::SensorView *view_ = nullptr;
  const osi3::GroundTruth *truth_ = nullptr;
  Objects objects_ = nullptr;
  Reflections reflections_ = nullptr;
  bool has_lidar_ = false;
};

}  // namespace flat

// `Common` has: vector, dimension, orientation, spherical, identifier and
// timestamp, each from a builder and a value to what is passed on; `pass`, from
// that to the argument of a table's add_…; `identifiers`, a vector of one;
// `reflections`, the vector of them.
template <class Common>
struct Flatbuffers {
  template <class T>
  using Offset = flat::Offset<T>;
  using Builder = flat::Builder;
  using SensorViewRelay = flat::SensorViewRelay;

  static std::optional<Timestamp> timestamp(Bytes bytes) { return flat::timestamp(bytes); }

  static Offset<osi3::BaseMoving> write(Builder &builder, const Base &from) {
    const auto dimension =
        from.dimension ? std::optional(Common::dimension(builder, *from.dimension)) : std::nullopt;
    const auto vector = [&](const std::optional<Vector> &value) {
      return value ? std::optional(Common::vector(builder, *value)) : std::nullopt;
    };
    const auto turned = [&](const std::optional<Orientation> &value) {
      return value ? std::optional(Common::orientation(builder, *value)) : std::nullopt;
    };
    const auto position = vector(from.position);
    const auto velocity = vector(from.velocity);
    const auto acceleration = vector(from.acceleration);
    const auto orientation = turned(from.orientation);
    const auto orientation_rate = turned(from.orientation_rate);
    osi3::BaseMovingBuilder base(builder);
    if (dimension) base.add_dimension(Common::pass(*dimension));
    if (position) base.add_position(Common::pass(*position));
    if (velocity) base.add_velocity(Common::pass(*velocity));
    if (acceleration) base.add_acceleration(Common::pass(*acceleration));
    if (orientation) base.add_orientation(Common::pass(*orientation));
    if (orientation_rate) base.add_orientation_rate(Common::pass(*orientation_rate));
    return base.Finish();
  }

  static Offset<osi3::VehicleClassification> write(Builder &builder, const Classification &from) {
    Offset<osi3::LightState> state;
    if (from.indicator || from.brake_light) {
      osi3::LightStateBuilder light(builder);
      if (from.indicator) light.add_indicator_state(*from.indicator);
      if (from.brake_light) light.add_brake_light_state(*from.brake_light);
      state = light.Finish();
    }
    osi3::VehicleClassificationBuilder classification(builder);
    if (from.type) classification.add_type_value(*from.type);
    classification.add_light_state(state);
    return classification.Finish();
  }

  static Offset<osi3::MovingObject> write(Builder &builder, const Object &from) {
    const auto id = Common::identifier(builder, from.id);
    Offset<osi3::VehicleClassification> classification;
    if (from.classification) classification = write(builder, *from.classification);
    Offset<osi3::VehicleAttributes> attributes;
    if (from.bbcenter_to_rear) {
      const auto rear = Common::vector(builder, *from.bbcenter_to_rear);
      osi3::VehicleAttributesBuilder vehicle(builder);
      vehicle.add_bbcenter_to_rear(Common::pass(rear));
      attributes = vehicle.Finish();
    }
    const auto base = write(builder, from.base);
    osi3::MovingObjectBuilder object(builder);
    object.add_id(Common::pass(id));
    if (from.type) object.add_type_value(*from.type);
    object.add_vehicle_classification(classification);
    object.add_vehicle_attributes(attributes);
    object.add_base(base);
    return object.Finish();
  }

  static Offset<osi3::LidarSensorViewConfiguration> write(Builder &builder,
                                                          const LidarConfiguration &from) {
    const auto position = Common::vector(builder, from.position);
    osi3::MountingPositionBuilder mounting(builder);
    mounting.add_position(Common::pass(position));
    const auto mounted = mounting.Finish();
    osi3::LidarSensorViewConfigurationBuilder configuration(builder);
    configuration.add_field_of_view_horizontal(from.horizontal);
    configuration.add_field_of_view_vertical(from.vertical);
    configuration.add_mounting_position(mounted);
    return configuration.Finish();
  }

  static Offset<osi3::InterfaceVersion> write(Builder &builder,
                                              const std::optional<Version> &from) {
    if (!from) return {};
    return osi3::CreateInterfaceVersion(builder, from->major, from->minor, from->patch);
  }

  class SensorViewOut : public flat::Out {
   public:
    explicit SensorViewOut(bool fresh) : flat::Out(fresh) {}

    void begin() {
      flat::Out::begin();
      lidar_ = {};
      objects_ = {};
    }

    template <class F>
    void lidar(const LidarConfiguration &from, std::uint32_t count, F reflection) {
      const auto configuration = write(builder(), from);
      const auto reflections = common_.reflections(builder(), count, reflection);
      osi3::LidarSensorViewBuilder lidar(builder());
      lidar.add_view_configuration(configuration);
      lidar.add_reflection(reflections);
      const auto view = lidar.Finish();
      lidar_ = builder().CreateVector(&view, 1);
    }

    template <class F>
    void objects(std::uint32_t count, F object) {
      offsets_.clear();
      offsets_.reserve(count);
      for (std::uint32_t i = 0; i < count; ++i) offsets_.push_back(write(builder(), object(i)));
      objects_ = builder().CreateVector(offsets_);
    }

    void end(const View &view) {
      const auto timestamp = Common::timestamp(builder(), view.timestamp);
      const auto host = Common::identifier(builder(), view.host_vehicle_id);
      osi3::GroundTruthBuilder ground_truth(builder());
      ground_truth.add_timestamp(Common::pass(timestamp));
      ground_truth.add_host_vehicle_id(Common::pass(host));
      ground_truth.add_moving_object(objects_);
      const auto truth = ground_truth.Finish();
      const auto sensor = Common::identifier(builder(), view.sensor_id);
      const auto version = write(builder(), view.version);
      osi3::SensorViewBuilder root(builder());
      root.add_version(version);
      root.add_sensor_id(Common::pass(sensor));
      root.add_host_vehicle_id(Common::pass(host));
      root.add_timestamp(Common::pass(timestamp));
      root.add_global_ground_truth(truth);
      root.add_lidar_sensor_view(lidar_);
      root_ = root.Finish();
    }

    Bytes serialize() { return finish(root_); }

    void drop() {
      flat::Out::drop(offsets_);
      flat::Out::drop(common_.offsets);
    }

   private:
    Common common_;
    std::vector<Offset<osi3::MovingObject>> offsets_;
    Offset<flatbuffers::Vector<Offset<osi3::LidarSensorView>>> lidar_;
    Offset<flatbuffers::Vector<Offset<osi3::MovingObject>>> objects_;
    Offset<osi3::SensorView> root_;
  };

  using SensorViewIn = flat::SensorViewIn;

  class SensorDataOut : public flat::Out {
   public:
    explicit SensorDataOut(bool fresh) : flat::Out(fresh) {}

    void begin(const View &from) {
      flat::Out::begin();
      view_ = from;
      features_ = {};
    }

    // At most so many follow.
    void begin_detections(std::size_t most) {
      detections_.clear();
      detections_.reserve(most);
    }
    void detection(const Spherical &from) {
      const auto position = Common::spherical(builder(), from);
      osi3::LidarDetectionBuilder detection(builder());
      detection.add_position(Common::pass(position));
      detections_.push_back(detection.Finish());
    }
    void end_detections() {
      const auto detections = builder().CreateVector(detections_);
      osi3::LidarDetectionDataBuilder lidar(builder());
      lidar.add_detection(detections);
      const auto data = lidar.Finish();
      const auto lidars = builder().CreateVector(&data, 1);
      osi3::FeatureDataBuilder features(builder());
      features.add_lidar_sensor(lidars);
      features_ = features.Finish();
    }

    void begin_objects(std::size_t most) {
      offsets_.clear();
      offsets_.reserve(most);
    }
    void object(const DetectedObject &from) {
      const auto truth = Common::identifiers(builder(), from.ground_truth_id);
      const auto tracking = Common::identifier(builder(), from.tracking_id);
      const auto sensor = Common::identifiers(builder(), from.sensor_id);
      osi3::DetectedItemHeaderBuilder head(builder());
      head.add_ground_truth_id(truth);
      head.add_tracking_id(Common::pass(tracking));
      head.add_existence_probability(from.existence_probability);
      head.add_measurement_state(from.measurement_state);
      head.add_sensor_id(sensor);
      const auto header = head.Finish();
      Base where{};
      where.position = from.position;
      where.dimension = from.dimension;
      const auto base = write(builder(), where);
      osi3::CandidateMovingObjectBuilder candidate(builder());
      candidate.add_type_value(from.candidate_type);
      candidate.add_probability(from.candidate_probability);
      const auto one = candidate.Finish();
      const auto candidates = builder().CreateVector(&one, 1);
      osi3::DetectedMovingObjectBuilder object(builder());
      object.add_header(header);
      object.add_base(base);
      object.add_candidate(candidates);
      offsets_.push_back(object.Finish());
    }
    void end_objects() { objects_ = builder().CreateVector(offsets_); }

    void end() {
      const auto version = write(builder(), view_.version);
      const auto timestamp = Common::timestamp(builder(), view_.timestamp);
      const auto sensor = Common::identifier(builder(), view_.sensor_id);
      osi3::SensorDataBuilder root(builder());
      root.add_version(version);
      root.add_timestamp(Common::pass(timestamp));
      root.add_sensor_id(Common::pass(sensor));
      root.add_moving_object(objects_);
      root.add_feature_data(features_);
      root_ = root.Finish();
    }

    Bytes serialize() { return finish(root_); }

    void drop() {
      flat::Out::drop(detections_);
      flat::Out::drop(offsets_);
    }

   private:
    View view_{};
    std::vector<Offset<osi3::LidarDetection>> detections_;
    std::vector<Offset<osi3::DetectedMovingObject>> offsets_;
    Offset<osi3::FeatureData> features_;
    Offset<flatbuffers::Vector<Offset<osi3::DetectedMovingObject>>> objects_;
    Offset<osi3::SensorData> root_;
  };

  class TrafficUpdateOut : public flat::Out {
   public:
    explicit TrafficUpdateOut(bool fresh) : flat::Out(fresh) {}

    void end(const View &view, const Object &agent) {
      const auto version = write(builder(), view.version);
      const auto timestamp = Common::timestamp(builder(), view.timestamp);
      const auto object = write(builder(), agent);
      const auto update = builder().CreateVector(&object, 1);
      osi3::TrafficUpdateBuilder root(builder());
      root.add_version(version);
      root.add_timestamp(Common::pass(timestamp));
      root.add_update(update);
      root_ = root.Finish();
    }

    Bytes serialize() { return finish(root_); }
    void drop() {}

   private:
    Offset<osi3::TrafficUpdate> root_;
  };
};

}  // namespace wiregauge
