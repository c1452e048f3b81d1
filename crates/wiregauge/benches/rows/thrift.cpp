// Both protocols: they and their transports are kept, and know each other's types.
#include <thrift/transport/TBufferTransports.h>

#include <limits>
#include <memory>

#include "message_types.h"

namespace {

using apache::thrift::transport::TMemoryBuffer;
using Object = wg::LidarPointsMsg;

void fill_object(const hand::Lidar &from, Object &to) {
  to.info.kind = static_cast<std::int64_t>(from.info.kind);
  to.info.timestamp = static_cast<std::int64_t>(from.info.timestamp);
  to.info.guid = static_cast<std::int64_t>(from.info.guid);
  to.points.resize(from.points.size());
  auto at = to.points.begin();
  for (const hand::Point &point : from.points) {
    at->position_0 = point.position[0];
    at->position_1 = point.position[1];
    at->position_2 = point.position[2];
    at->intensity = static_cast<std::int8_t>(point.intensity);
    ++at;
  }
}

class Thrift : public hand::ByHand {
 public:
  const char *library() override { return "thrift"; }
  bool has_object() override { return true; }

  std::size_t encode(const hand::Lidar &message) override {
    Object object;
    fill_object(message, object);
    return write_of(object);
  }

  std::string written() override { return out_->getBufferAsString(); }

  void decode(hand::Bytes wire, hand::Lidar &message) override {
    Object object;
    read(wire, object);
    message.info = {static_cast<std::uint64_t>(object.info.kind),
                    static_cast<std::uint64_t>(object.info.timestamp),
                    static_cast<std::uint64_t>(object.info.guid)};
    message.points.resize(object.points.size());
    auto to = message.points.begin();
    for (const wg::LidarPoint &point : object.points) {
      to->position = {static_cast<float>(point.position_0), static_cast<float>(point.position_1),
                      static_cast<float>(point.position_2)};
      to->intensity = static_cast<std::uint8_t>(point.intensity);
      ++to;
    }
  }

  void fill(const std::vector<hand::Lidar> &messages) override {
    objects_ = std::vector<Object>(messages.size());
    for (std::size_t i = 0; i < messages.size(); ++i) fill_object(messages[i], objects_[i]);
  }
  std::size_t write(std::size_t index) override { return write_of(objects_[index]); }
  void parse(hand::Bytes wire) override {
    Object object;
    read(wire, object);
    hand::use(object);
  }

 private:
  std::size_t write_of(const Object &object) {
    out_->resetBuffer();
    object.write(&writer_);
    hand::use(*out_);
    return out_->available_read();
  }

  void read(hand::Bytes wire, Object &object) {
    in_->resetBuffer(const_cast<std::uint8_t *>(wire.data), static_cast<std::uint32_t>(wire.size));
    object.read(&reader_);
    // Or the limit of one message would be that of all.
    in_->readEnd();
  }

  std::shared_ptr<TMemoryBuffer> out_ = std::make_shared<TMemoryBuffer>();
  Protocol<TMemoryBuffer> writer_{out_};
  std::shared_ptr<TMemoryBuffer> in_ = std::make_shared<TMemoryBuffer>();
  Protocol<TMemoryBuffer> reader_{in_};
  std::vector<Object> objects_;
};

}  // namespace

int main() {
  Thrift library;
  return hand::Server(library).serve();
}
