// FlatBuffers C++ by hand, by the Object API; the builder is kept.
#include <memory>

#include "message_generated.h"

namespace {

using Object = wg::LidarPointsMsg_T;

class Flatbuffers : public hand::ByHand {
 public:
  const char *library() override { return "flatbuffers"; }
  bool has_object() override { return true; }

  std::size_t encode(const hand::Lidar &message) override {
    Object object;
    fill_object(message, object);
    return pack(object);
  }

  std::string written() override {
    return {builder_.GetBufferPointer(), builder_.GetBufferPointer() + builder_.GetSize()};
  }

  void decode(hand::Bytes wire, hand::Lidar &message) override {
    Object object;
    flatbuffers::GetRoot<wg::LidarPointsMsg>(wire.data)->UnPackTo(&object);
    message.info = {object.info->kind, object.info->timestamp, object.info->guid};
    message.points.resize(object.points.size());
    auto to = message.points.begin();
    for (const auto &point : object.points) {
      to->position = {point->position_0, point->position_1, point->position_2};
      to->intensity = point->intensity;
      ++to;
    }
  }

  void fill(const std::vector<hand::Lidar> &messages) override {
    objects_ = std::vector<Object>(messages.size());
    for (std::size_t i = 0; i < messages.size(); ++i) fill_object(messages[i], objects_[i]);
  }
  std::size_t write(std::size_t index) override { return pack(objects_[index]); }
  void parse(hand::Bytes wire) override {
    Object object;
    flatbuffers::GetRoot<wg::LidarPointsMsg>(wire.data)->UnPackTo(&object);
    hand::use(object);
  }

 private:
  static void fill_object(const hand::Lidar &from, Object &to) {
    to.info = std::make_unique<wg::MsgInfo_T>();
    to.info->kind = from.info.kind;
    to.info->timestamp = from.info.timestamp;
    to.info->guid = from.info.guid;
    to.points.reserve(from.points.size());
    for (const hand::Point &point : from.points) {
      auto &added = *to.points.emplace_back(std::make_unique<wg::LidarPoint_T>());
      added.position_0 = point.position[0];
      added.position_1 = point.position[1];
      added.position_2 = point.position[2];
      added.intensity = point.intensity;
    }
  }

  std::size_t pack(const Object &object) {
    builder_.Clear();
    builder_.Finish(wg::LidarPointsMsg::Pack(builder_, &object));
    hand::use(*builder_.GetBufferPointer());
    return builder_.GetSize();
  }

  flatbuffers::FlatBufferBuilder builder_;
  std::vector<Object> objects_;
};

}  // namespace

int main() {
  Flatbuffers library;
  return hand::Server(library).serve();
}
