// The packed field (docs/packed.md): Protobuf, but for reflections and
// detections, which are columns that are written and read where they lie in the
// message. libprotobuf never sees them, as it would copy them.
#pragma once

#include <google/protobuf/io/coded_stream.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "encodings/protobuf.hpp"
#include "wiregauge/packed.hpp"
#include "wiregauge/packed_reduce.hpp"

namespace wiregauge {
namespace columns {

inline void check(const packed::Error &error, const std::string &variable) {
  if (error) throw Failure(variable + ": " + error.message());
}

template <class Message>
void merge(packed::Bytes part, Message *to, Bytes whole) {
  google::protobuf::io::CodedInputStream stream(part.data, static_cast<int>(part.size));
  if (!to->MergeFromCodedStream(&stream) || !stream.ConsumedEntireMessage()) {
    throw unreadable("osi3::SensorView", whole);
  }
}

// Parses a message but for those of its messages `number` that are taken.
template <class Message, class Take>
void divide(Bytes bytes, std::uint32_t number, Message *rest, Take take) {
  const packed::Bytes all(bytes.data, bytes.size);
  packed::detail::Fields fields(all);
  packed::detail::Field field;
  std::size_t kept = 0;
  while (fields.next(field)) {
    if (field.number != number || field.type != 2 || !take(field)) continue;
    merge(all.part(kept, field.begin - kept), rest, bytes);
    kept = field.end;
  }
  check(fields.error(), origin());
  merge(all.part(kept, bytes.size - kept), rest, bytes);
}

// A message going out: its Protobuf first, then one table, both written into
// the one buffer.
template <class Message>
class Out {
 public:
  explicit Out(bool fresh) : message_(fresh), fresh_(fresh) {}

  void turn() {
    buffers_.turn();
    if (fresh_) buffers_.current().release();
  }

  void begin() {
    message_.begin();
    whole_.reset();
  }

  void drop() {
    message_.drop();
    whole_.reset();
  }

  Bytes serialize() {
    if (!whole_) {
      rest_ = size_of_rest();
      size_ = rest_;
      data_ = buffers_.current().reserve(size_);
    }
    message_->SerializeWithCachedSizesToArray(data_);
    return {data_, size_};
  }

 protected:
  // Lays out the message as it now is, with a table of so many rows, and writes
  // all but what Protobuf has to write. `inner` are the other fields of the
  // message that the table is in.
  packed::Table lay_out(packed::Root root, packed::Kind kind,
                        const std::vector<packed::Column> &columns, std::size_t rows,
                        const std::string &inner) {
    rest_ = size_of_rest();
    whole_.emplace(root, packed::Bytes::room(rest_));
    check(whole_->add(kind, columns, rows, inner), kIdentity.output);
    check(whole_->plan(), kIdentity.output);
    size_ = whole_->size();
    data_ = buffers_.current().reserve(size_);
    check(whole_->write(data_, size_), kIdentity.output);
    return whole_->table(0);
  }

  protobuf::Kept<Message> message_;

 private:
  std::size_t size_of_rest() {
    const std::size_t size = message_->ByteSizeLong();
    if (size > kMaximumSize) throw too_large();
    return size;
  }

  bool fresh_;
  Double<Buffer> buffers_;
  std::optional<packed::Message> whole_;
  std::uint8_t *data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t rest_ = 0;
};

// How reflections become columns: each scheme generates them, has the message laid out, and
// fills it.

// Elements in place, generated where they stay.
template <class T>
struct InPlace {
  template <class F, class LayOut>
  void write(std::uint32_t count, const F &reflection, const LayOut &lay_out) {
    constexpr packed::Element element = packed::detail::ElementOf<T>::value;
    const packed::Table table =
        lay_out({{"signal_strength", element}, {"time_of_flight", element}});
    const auto strength = table.template column<T>(0);
    const auto time = table.template column<T>(1);
    // Local, so that the compiler sees that no column can overlap them.
    const std::uint32_t rows = count;
    const F generate = reflection;
    for (std::uint32_t i = 0; i < rows; ++i) {
      const Reflection from = generate(i);
      strength[i] = static_cast<T>(from.signal_strength);
      time[i] = static_cast<T>(from.time_of_flight);
    }
  }
};

// Columns that are reduced: to `Resolutions` of both, or without loss where these are 0.
template <class Resolutions>
struct Reducing {
  template <class F, class LayOut>
  void write(std::uint32_t count, const F &reflection, const LayOut &lay_out) {
    strength_.resize(count);
    time_.resize(count);
    double *strength = strength_.data();
    double *time = time_.data();
    const std::uint32_t rows = count;
    const F generate = reflection;
    for (std::uint32_t i = 0; i < rows; ++i) {
      const Reflection from = generate(i);
      strength[i] = from.signal_strength;
      time[i] = from.time_of_flight;
    }
    reduce("signal_strength", strength_, Resolutions::kStrength, reduced_[0]);
    reduce("time_of_flight", time_, Resolutions::kTime, reduced_[1]);
    const packed::Table table =
        lay_out({reduced_[0].column("signal_strength"), reduced_[1].column("time_of_flight")});
    for (std::size_t i = 0; i < 2; ++i) table.put(i, reduced_[i].bytes);
  }

 private:
  static void reduce(const char *name, const std::vector<double> &values, double resolution,
                     packed::Reduced &out) {
    packed::Reduction how;
    if (resolution > 0) how.resolution = resolution;
    check(packed::reduce(name, values.data(), values.size(), nullptr, how, out), kIdentity.output);
  }

  std::vector<double> strength_;
  std::vector<double> time_;
  packed::Reduced reduced_[2];
};

}  // namespace columns

template <class Scheme>
struct PackedAs {
  static constexpr std::uint32_t kLidar = 1002;  // SensorView.lidar_sensor_view

  static std::optional<Timestamp> timestamp(Bytes front) { return protobuf::timestamp(front); }

  // A message whose Protobuf is parsed and written anew, while the views that have packed
  // fields are checked and handed on as they are: their columns need no parsing.
  class SensorViewRelay {
   public:
    explicit SensorViewRelay(bool fresh) : message_(fresh), fresh_(fresh) {}

    void parse(Bytes bytes) {
      message_.begin();
      views_.clear();
      columns::divide(bytes, kLidar, &*message_, [&](const packed::detail::Field &field) {
        if (!is_packed(field.content)) return false;
        views_.push_back({bytes.data + field.begin, field.end - field.begin});
        return true;
      });
    }

    Bytes serialize() {
      const std::size_t rest = message_->ByteSizeLong();
      std::size_t size = rest;
      for (const packed::Bytes &view : views_) size += view.size;
      if (size > kMaximumSize) throw too_large();
      buffers_.turn();
      if (fresh_) buffers_.current().release();
      std::uint8_t *data = buffers_.current().reserve(size);
      message_->SerializeWithCachedSizesToArray(data);
      std::uint8_t *to = data + rest;
      for (const packed::Bytes &view : views_) {
        std::memcpy(to, view.data, view.size);
        to += view.size;
      }
      return {data, size};
    }

    void drop() { message_.drop(); }

   private:
    static bool is_packed(packed::Bytes view) {
      packed::detail::Fields fields(view);
      packed::detail::Field field;
      bool found = false;
      while (fields.next(field)) {
        if (field.number != packed::kField || field.type != 2) continue;
        packed::View opened;
        columns::check(packed::View::open(field.content, opened), origin());
        found = true;
      }
      return found && !fields.error();
    }

    protobuf::Kept<osi3::SensorView> message_;
    bool fresh_;
    Double<Buffer> buffers_;
    std::vector<packed::Bytes> views_;
  };

  class SensorViewOut : public columns::Out<osi3::SensorView> {
   public:
    using Out::Out;

    void begin() {
      Out::begin();
      write_ = nullptr;
    }

    // The columns come after all else of the message, so they can only be
    // written once that has its size.
    template <class F>
    void lidar(const LidarConfiguration &configuration, std::uint32_t count, F reflection) {
      write_ = [this, configuration, count, reflection] {
        osi3::LidarSensorView lidar;
        protobuf::write(configuration, lidar.mutable_view_configuration());
        lidar.SerializeToString(&inner_);
        scheme_.write(count, reflection, [&](const std::vector<packed::Column> &columns) {
          return this->lay_out(packed::Root::sensor_view, packed::Kind::lidar_reflections, columns,
                               count, inner_);
        });
      };
    }

    template <class F>
    void objects(std::uint32_t count, F object) {
      osi3::GroundTruth *truth = message_->mutable_global_ground_truth();
      truth->mutable_moving_object()->Reserve(static_cast<int>(count));
      for (std::uint32_t i = 0; i < count; ++i) {
        protobuf::write(object(i), truth->add_moving_object());
      }
    }

    void end(const View &view) {
      protobuf::write(view, &*message_);
      if (write_) write_();
    }

   private:
    std::function<void()> write_;
    std::string inner_;
    Scheme scheme_;
  };

  class SensorViewIn {
   public:
    // Opening the field and parsing check all that there is to check.
    SensorViewIn(bool fresh, bool) : message_(fresh) {}

    void parse(Bytes bytes) {
      message_.begin();
      has_lidar_ = false;
      packed_ = false;
      plain_ = false;
      single_ = false;
      restored_.clear();
      rows_ = 0;
      columns::divide(bytes, kLidar, &*message_,
                      [&](const packed::detail::Field &field) { return open(field.content); });
      has_lidar_ = has_lidar_ || message_->lidar_sensor_view_size() > 0;
      if (!packed_ && has_lidar_) {
        rows_ = static_cast<std::size_t>(message_->lidar_sensor_view(0).reflection_size());
      }
    }
    void drop() { message_.drop(); }

    View view() const { return protobuf::read(*message_); }
    bool has_lidar() const { return has_lidar_; }
    std::size_t reflections() const { return rows_; }
    Reflection reflection(std::uint32_t i) const {
      if (plain_) return {strength_[i], time_[i]};
      if (!restored_.empty()) return {restored_[i], restored_[rows_ + i]};
      if (single_) return {strength32_[i], time32_[i]};
      return slow(i);
    }
    std::size_t objects() const {
      return static_cast<std::size_t>(message_->global_ground_truth().moving_object_size());
    }
    protobuf::ObjectIn object(std::size_t i) const {
      return protobuf::ObjectIn(message_->global_ground_truth().moving_object(static_cast<int>(i)));
    }

   private:
    // Takes the packed field out of a view, and parses the view's other fields.
    // False where there is no such field: libprotobuf may have the view then.
    bool open(packed::Bytes view) {
      if (packed_) return false;
      packed::detail::Fields fields(view);
      packed::detail::Field field;
      packed::detail::Field found;
      while (fields.next(field)) {
        if (field.number == packed::kField && field.type == 2) found = field;
      }
      if (fields.error() || found.number == 0) return false;
      packed::View opened;
      columns::check(packed::View::open(found.content, opened), origin());
      const Bytes whole{view.data, view.size};
      configuration_.Clear();
      columns::merge(view.part(0, found.begin), &configuration_, whole);
      columns::merge(view.part(found.end, view.size - found.end), &configuration_, whole);
      has_lidar_ = true;
      packed_ = true;
      rows_ = opened.rows();
      strength_ = opened.column<double>("signal_strength");
      time_ = opened.column<double>("time_of_flight");
      any_strength_ = opened.values("signal_strength");
      any_time_ = opened.values("time_of_flight");
      plain_ = strength_ && time_ && !strength_.optional() && !time_.optional();
      strength32_ = opened.column<float>("signal_strength");
      time32_ = opened.column<float>("time_of_flight");
      single_ = strength32_ && time32_ && !strength32_.optional() && !time32_.optional();
      restore();
      return true;
    }

    // Reduced columns are read whole, once: looking at single rows would restore a block for
    // each.
    void restore() {
      restored_.clear();
      const auto reduced = [](const packed::Values &column) {
        return column && column.reduced && column.bitmap == nullptr;
      };
      if (!reduced(any_strength_) || !reduced(any_time_)) return;
      restored_.resize(2 * rows_);
      if (!any_strength_.read(0, restored_.data(), rows_) ||
          !any_time_.read(0, restored_.data() + rows_, rows_)) {
        restored_.clear();
      }
    }

    // Columns of other types than double, absent values, and plain reflections.
    Reflection slow(std::uint32_t i) const {
      if (!packed_) {
        const auto &at = message_->lidar_sensor_view(0).reflection(static_cast<int>(i));
        return {at.signal_strength(), at.time_of_flight()};
      }
      const auto value = [i](const packed::Values &column) {
        return column && column.known && column.present(i) ? column.value(i) : 0;
      };
      return {value(any_strength_), value(any_time_)};
    }

    protobuf::Kept<osi3::SensorView> message_;
    osi3::LidarSensorView configuration_;
    bool has_lidar_ = false;
    bool packed_ = false;  // whether reflections are in the packed field
    bool plain_ = false;   // whether both columns are doubles in every row
    bool single_ = false;  // the same for floats
    std::size_t rows_ = 0;
    packed::ColumnView<double> strength_;
    packed::ColumnView<double> time_;
    packed::ColumnView<float> strength32_;
    packed::ColumnView<float> time32_;
    std::vector<double> restored_;  // of reduced columns, one after the other
    packed::Values any_strength_;
    packed::Values any_time_;
  };

  class SensorDataOut : public columns::Out<osi3::SensorData> {
   public:
    using Out::Out;

    void begin(const View &view) {
      Out::begin();
      protobuf::write(view, &*message_);
    }

    void begin_objects(std::size_t most) {
      message_->mutable_moving_object()->Reserve(static_cast<int>(most));
    }
    void object(const DetectedObject &from) {
      protobuf::write(from, message_->add_moving_object());
    }
    void end_objects() {}

    // At most so many follow.
    void begin_detections(std::size_t most) {
      lay_out_detections(most);
      most_ = most;
      count_ = 0;
    }
    void detection(const Spherical &from) {
      distance_[count_] = from.distance;
      azimuth_[count_] = from.azimuth;
      elevation_[count_] = from.elevation;
      ++count_;
    }
    void end_detections() {
      if (count_ == most_) return;
      // Some were left out: the columns move together. They are rarely many.
      const packed::Sink<double> wide[] = {distance_, azimuth_, elevation_};
      std::vector<std::uint8_t> rows(3 * count_ * sizeof(double));
      for (std::size_t i = 0; i < 3; ++i) {
        std::memcpy(rows.data() + i * count_ * sizeof(double), wide[i].data(),
                    count_ * sizeof(double));
      }
      lay_out_detections(count_);
      const packed::Sink<double> narrow[] = {distance_, azimuth_, elevation_};
      for (std::size_t i = 0; i < 3; ++i) {
        std::memcpy(narrow[i].data(), rows.data() + i * count_ * sizeof(double),
                    count_ * sizeof(double));
      }
    }

    void end() {}

   private:
    void lay_out_detections(std::size_t rows) {
      const packed::Table table =
          lay_out(packed::Root::sensor_data, packed::Kind::lidar_detections,
                  {{"position.distance"}, {"position.azimuth"}, {"position.elevation"}}, rows, {});
      distance_ = table.column<double>(0);
      azimuth_ = table.column<double>(1);
      elevation_ = table.column<double>(2);
    }

    packed::Sink<double> distance_;
    packed::Sink<double> azimuth_;
    packed::Sink<double> elevation_;
    std::size_t most_ = 0;
    std::size_t count_ = 0;
  };

  using TrafficUpdateOut = Protobuf::TrafficUpdateOut;
};

using Packed = PackedAs<columns::InPlace<double>>;

}  // namespace wiregauge
