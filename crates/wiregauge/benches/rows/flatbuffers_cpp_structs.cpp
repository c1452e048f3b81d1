// FlatBuffers C++ by hand, points as structs, which lie in memory alike: each is copied
// whole, but for the bytes that belong to no field. Those hold whatever the memory held
// before; the structs' own constructors clear them, and take twice the time and more.
#include "message_generated.h"

namespace {

static_assert(sizeof(hand::Point) == 16 && sizeof(wg::LidarPoint) == 16, "both lie alike");

class Flatbuffers : public hand::ByHand {
 public:
  const char *library() override { return "flatbuffers"; }

  std::size_t encode(const hand::Lidar &message) override {
    builder_.Clear();
    const auto write = [](std::size_t i, wg::LidarPoint *to, const hand::Point *from) {
      std::array<std::uint64_t, 2> words;
      std::memcpy(words.data(), &from[i], sizeof words);
      // The last three bytes.
      words[1] &= 0xff'ffff'ffff;
      std::memcpy(reinterpret_cast<void *>(to), words.data(), sizeof words);
    };
    const auto points = builder_.CreateVectorOfStructs<wg::LidarPoint>(message.points.size(), write,
                                                                       message.points.data());
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
