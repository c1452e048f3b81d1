// FlatBuffers C++ by hand, every record a table, built in the order of the fields as flatc's
// Pack does: docs/by-hand.md says what the order costs. The builder is kept, and so is the list
// of offsets.
#include <vector>

#include "message_generated.h"

namespace {

class Flatbuffers : public hand::ByHand {
 public:
  const char *library() override { return "flatbuffers"; }

  std::size_t encode(const hand::Lidar &message) override {
    builder_.Clear();
    const hand::Info &from = message.info;
    const auto info = wg::CreateMsgInfo(builder_, from.kind, from.timestamp, from.guid);
    offsets_.clear();
    offsets_.reserve(message.points.size());
    for (const hand::Point &point : message.points) {
      offsets_.push_back(wg::CreateLidarPoint(builder_, point.position[0], point.position[1],
                                              point.position[2], point.intensity));
    }
    const auto points = builder_.CreateVector(offsets_);
    builder_.Finish(wg::CreateLidarPointsMsg(builder_, info, points));
    hand::use(*builder_.GetBufferPointer());
    return builder_.GetSize();
  }

  std::string written() override {
    return {builder_.GetBufferPointer(), builder_.GetBufferPointer() + builder_.GetSize()};
  }

  void decode(hand::Bytes wire, hand::Lidar &message) override {
    const auto *root = flatbuffers::GetRoot<wg::LidarPointsMsg>(wire.data);
    message.info = {root->info()->kind(), root->info()->timestamp(), root->info()->guid()};
    message.points.resize(root->points()->size());
    auto to = message.points.begin();
    for (const auto *point : *root->points()) {
      to->position = {point->position_0(), point->position_1(), point->position_2()};
      to->intensity = point->intensity();
      ++to;
    }
  }

 private:
  flatbuffers::FlatBufferBuilder builder_;
  std::vector<flatbuffers::Offset<wg::LidarPoint>> offsets_;
};

}  // namespace

int main() {
  Flatbuffers library;
  return hand::Server(library).serve();
}
