// FlatBuffers C++ by hand, points as structs, which move as a block: the bytes that belong
// to no field go along as they are.
#include "message_generated.h"

namespace {

static_assert(sizeof(hand::Point) == sizeof(wg::LidarPoint), "both lie in memory alike");

class Flatbuffers : public hand::ByHand {
 public:
  const char *library() override { return "flatbuffers"; }

  std::size_t encode(const hand::Lidar &message) override {
    builder_.Clear();
    const auto *from_points = reinterpret_cast<const wg::LidarPoint *>(message.points.data());
    const auto points = builder_.CreateVectorOfStructs(from_points, message.points.size());
    const hand::Info &from = message.info;
    const wg::MsgInfo info(from.kind, from.timestamp, from.guid);
    builder_.Finish(wg::CreateLidarPointsMsg(builder_, &info, points));
    hand::use(*builder_.GetBufferPointer());
    return builder_.GetSize();
  }

  std::string written() override {
    return {builder_.GetBufferPointer(), builder_.GetBufferPointer() + builder_.GetSize()};
  }

  void decode(hand::Bytes wire, hand::Lidar &message) override {
    const auto *root = flatbuffers::GetRoot<wg::LidarPointsMsg>(wire.data);
    message.info = {root->info()->kind(), root->info()->timestamp(), root->info()->guid()};
    const auto *from = reinterpret_cast<const hand::Point *>(root->points()->data());
    message.points.assign(from, from + root->points()->size());
  }

 private:
  flatbuffers::FlatBufferBuilder builder_;
};

}  // namespace

int main() {
  Flatbuffers library;
  return hand::Server(library).serve();
}
