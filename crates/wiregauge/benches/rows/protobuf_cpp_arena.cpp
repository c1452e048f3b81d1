// Protobuf C++ by hand, on an arena whose first block is kept and has room for the message.
#include <google/protobuf/arena.h>

#include <algorithm>
#include <memory>

#include "message.pb.h"

namespace {

using google::protobuf::Arena;
using Object = wg::LidarPointsMsg;

class Protobuf : public hand::ByHand {
 public:
  const char *library() override { return "protobuf"; }

  std::size_t encode(const hand::Lidar &message) override {
    Object &object = fresh();
    auto &info = *object.mutable_info();
    info.set_kind(message.info.kind);
    info.set_timestamp(message.info.timestamp);
    info.set_guid(message.info.guid);
    object.mutable_points()->Reserve(static_cast<int>(message.points.size()));
    for (const hand::Point &point : message.points) {
      auto &added = *object.add_points();
      added.set_position_0(point.position[0]);
      added.set_position_1(point.position[1]);
      added.set_position_2(point.position[2]);
      added.set_intensity(point.intensity);
    }
    size_ = object.ByteSizeLong();
    if (out_.size() < size_) out_.resize(size_);
    object.SerializeWithCachedSizesToArray(out_.data());
    hand::use(out_);
    return size_;
  }

  std::string written() override { return {out_.begin(), out_.begin() + long(size_)}; }

  void decode(hand::Bytes wire, hand::Lidar &message) override {
    Object &object = fresh();
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

 private:
  // An empty message; the last one is gone.
  Object &fresh() {
    const std::size_t used = arena_ ? arena_->SpaceUsed() : 0;
    if (!arena_ || arena_->SpaceAllocated() > block_.size()) {
      arena_.reset();
      block_.resize(std::max(block_.size(), used + used / 8 + 4096));
      google::protobuf::ArenaOptions options;
      options.initial_block = block_.data();
      options.initial_block_size = block_.size();
      arena_ = std::make_unique<Arena>(options);
    } else {
      arena_->Reset();
    }
#if GOOGLE_PROTOBUF_VERSION < 5028000
    return *Arena::CreateMessage<Object>(arena_.get());
#else
    return *Arena::Create<Object>(arena_.get());
#endif
  }

  std::vector<char> block_;
  std::unique_ptr<Arena> arena_;
  // Grows and is not cleared, so that nothing is zeroed.
  std::vector<std::uint8_t> out_;
  std::size_t size_ = 0;
};

}  // namespace

int main() {
  Protobuf library;
  return hand::Server(library).serve();
}
