// LCM by hand: points lie in memory as LCM has them, and are pointed to.
#include "wg_LidarPointsMsg.h"

namespace {

static_assert(sizeof(hand::Point) == sizeof(wg_LidarPoint), "both lie in memory alike");

wg_LidarPointsMsg object_of(const hand::Lidar &from) {
  wg_LidarPointsMsg object{};
  object.info.kind = static_cast<std::int64_t>(from.info.kind);
  object.info.timestamp = static_cast<std::int64_t>(from.info.timestamp);
  object.info.guid = static_cast<std::int64_t>(from.info.guid);
  object.points_count = static_cast<std::int32_t>(from.points.size());
  const auto *points = reinterpret_cast<const wg_LidarPoint *>(from.points.data());
  object.points = const_cast<wg_LidarPoint *>(points);
  return object;
}

class Lcm : public hand::ByHand {
 public:
  const char *library() override { return "LCM"; }
  bool has_object() override { return true; }

  std::size_t encode(const hand::Lidar &message) override { return write_of(object_of(message)); }

  std::string written() override { return {out_.begin(), out_.begin() + size_}; }

  void decode(hand::Bytes wire, hand::Lidar &message) override {
    wg_LidarPointsMsg object = read(wire);
    message.info = {static_cast<std::uint64_t>(object.info.kind),
                    static_cast<std::uint64_t>(object.info.timestamp),
                    static_cast<std::uint64_t>(object.info.guid)};
    const auto *points = reinterpret_cast<const hand::Point *>(object.points);
    message.points.assign(points, points + object.points_count);
    wg_LidarPointsMsg_decode_cleanup(&object);
  }

  void fill(const std::vector<hand::Lidar> &messages) override {
    objects_.clear();
    for (const hand::Lidar &message : messages) objects_.push_back(object_of(message));
  }
  std::size_t write(std::size_t index) override { return write_of(objects_[index]); }
  void parse(hand::Bytes wire) override {
    wg_LidarPointsMsg object = read(wire);
    hand::use(object);
    wg_LidarPointsMsg_decode_cleanup(&object);
  }

 private:
  std::size_t write_of(const wg_LidarPointsMsg &object) {
    size_ = wg_LidarPointsMsg_encoded_size(&object);
    const auto size = static_cast<std::size_t>(size_);
    if (out_.size() < size) out_.resize(size);
    if (wg_LidarPointsMsg_encode(out_.data(), 0, size_, &object) != size_) std::abort();
    hand::use(out_);
    return size;
  }

  static wg_LidarPointsMsg read(hand::Bytes wire) {
    wg_LidarPointsMsg object{};
    if (wg_LidarPointsMsg_decode(wire.data, 0, static_cast<int>(wire.size), &object) < 0)
      std::abort();
    return object;
  }

  // Grows and is not cleared, so that nothing is zeroed.
  std::vector<std::uint8_t> out_;
  int size_ = 0;
  std::vector<wg_LidarPointsMsg> objects_;
};

}  // namespace

int main() {
  Lcm library;
  return hand::Server(library).serve();
}
