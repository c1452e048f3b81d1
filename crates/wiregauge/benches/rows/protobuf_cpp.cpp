// Protobuf C++ by hand, on the heap.
#include "message.pb.h"

namespace {

using Object = wg::LidarPointsMsg;

void fill_object(const hand::Lidar &from, Object &to) {
  auto &info = *to.mutable_info();
  info.set_kind(from.info.kind);
  info.set_timestamp(from.info.timestamp);
  info.set_guid(from.info.guid);
  to.mutable_points()->Reserve(static_cast<int>(from.points.size()));
  for (const hand::Point &point : from.points) {
    auto &added = *to.add_points();
    added.set_position_0(point.position[0]);
    added.set_position_1(point.position[1]);
    added.set_position_2(point.position[2]);
    added.set_intensity(point.intensity);
  }
}

class Protobuf : public hand::ByHand {
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
    message.points.resize(static_cast<std::size_t>(object.points_size()));
    auto to = message.points.begin();
    for (const auto &point : object.points()) {
      to->position = {point.position_0(), point.position_1(), point.position_2()};
      to->intensity = static_cast<std::uint8_t>(point.intensity());
      ++to;
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
  Protobuf library;
  return hand::Server(library).serve();
}
