// The packed field by hand, in a message of Protobuf's on the heap: its columns are filled
// where they lie.
#include <array>

#include "message.pb.h"
#include "wiregauge/packed.hpp"

namespace {

using Object = wg::LidarPointsMsg;
namespace packed = wiregauge::packed;

std::vector<packed::Column> columns() {
  std::vector<packed::Column> columns(4);
  const std::array<const char *, 3> names{"position[0]", "position[1]", "position[2]"};
  for (std::size_t i = 0; i < 3; ++i) {
    columns[i].name = names[i];
    columns[i].element = packed::Element::f32;
  }
  columns[3].name = "intensity";
  columns[3].element = packed::Element::u8;
  return columns;
}

void fill_object(const hand::Lidar &from, Object &to) {
  auto &info = *to.mutable_info();
  info.set_kind(from.info.kind);
  info.set_timestamp(from.info.timestamp);
  info.set_guid(from.info.guid);
  static const std::vector<packed::Column> kColumns = columns();
  packed::Layout layout;
  if (layout.plan(kColumns, from.points.size())) std::abort();
  std::string &field = *to.mutable_points();
  field.resize(layout.size());
  const packed::Table table = layout.write(reinterpret_cast<std::uint8_t *>(field.data()));
  const auto x = table.column<float>(0);
  const auto y = table.column<float>(1);
  const auto z = table.column<float>(2);
  const auto intensity = table.column<std::uint8_t>(3);
  std::size_t row = 0;
  for (const hand::Point &point : from.points) {
    x[row] = point.position[0];
    y[row] = point.position[1];
    z[row] = point.position[2];
    intensity[row] = point.intensity;
    ++row;
  }
}

class Packed : public hand::ByHand {
 public:
  const char *library() override { return "protobuf"; }
  bool has_object() override { return true; }

  std::size_t encode(const hand::Lidar &message) override {
    Object object;
    fill_object(message, object);
    return serialize(object);
  }

  std::string written() override { return {out_.begin(), out_.begin() + long(size_)}; }

  void decode(hand::Bytes wire, hand::Lidar &message) override {
    Object object;
    if (!object.ParseFromArray(wire.data, static_cast<int>(wire.size))) std::abort();
    message.info = {object.info().kind(), object.info().timestamp(), object.info().guid()};
    packed::View view;
    if (packed::View::open(object.points(), view)) std::abort();
    const auto x = view.column<float>("position[0]");
    const auto y = view.column<float>("position[1]");
    const auto z = view.column<float>("position[2]");
    const auto intensity = view.column<std::uint8_t>("intensity");
    message.points.resize(view.rows());
    std::size_t row = 0;
    for (hand::Point &point : message.points) {
      point.position = {x[row], y[row], z[row]};
      point.intensity = intensity[row];
      ++row;
    }
  }

  void fill(const std::vector<hand::Lidar> &messages) override {
    objects_.clear();
    for (const hand::Lidar &message : messages) fill_object(message, objects_.emplace_back());
  }
  std::size_t write(std::size_t index) override { return serialize(objects_[index]); }
  void parse(hand::Bytes wire) override {
    Object object;
    if (!object.ParseFromArray(wire.data, static_cast<int>(wire.size))) std::abort();
    hand::use(object);
  }

 private:
  std::size_t serialize(const Object &object) {
    const std::size_t size = object.ByteSizeLong();
    if (out_.size() < size) out_.resize(size);
    object.SerializeWithCachedSizesToArray(out_.data());
    hand::use(out_);
    size_ = size;
    return size;
  }

  // Grows and is not cleared, so that nothing is zeroed.
  std::vector<std::uint8_t> out_;
  std::size_t size_ = 0;
  std::vector<Object> objects_;
};

}  // namespace

int main() {
  Packed library;
  return hand::Server(library).serve();
}
