// Cap'n Proto C++ by hand: built over a first segment that is kept, and written as the
// segments lie.
#include <capnp/message.h>
#include <capnp/serialize.h>

#include <memory>

#include "message.capnp.h"

namespace {

class CapnProto : public hand::ByHand {
 public:
  const char *library() override { return "capnp"; }

  std::size_t encode(const hand::Lidar &message) override {
    // A builder leaves its first segment zeroed when it ends.
    builder_.reset();
    if (needed_ > segment_.size()) segment_ = std::vector<capnp::word>(needed_);
    builder_ = segment_.empty() ? std::make_unique<capnp::MallocMessageBuilder>()
                                : std::make_unique<capnp::MallocMessageBuilder>(
                                      kj::arrayPtr(segment_.data(), segment_.size()));
    auto root = builder_->initRoot<wg::LidarPointsMsg>();
    auto info = root.initInfo();
    info.setKind(message.info.kind);
    info.setTimestamp(message.info.timestamp);
    info.setGuid(message.info.guid);
    auto points = root.initPoints(static_cast<unsigned>(message.points.size()));
    unsigned at = 0;
    for (const hand::Point &point : message.points) {
      auto to = points[at++];
      to.setPosition0(point.position[0]);
      to.setPosition1(point.position[1]);
      to.setPosition2(point.position[2]);
      to.setIntensity(point.intensity);
    }
    std::size_t words = 0;
    for (const auto &segment : builder_->getSegmentsForOutput()) words += segment.size();
    needed_ = words;
    hand::use(builder_);
    return words * sizeof(capnp::word);
  }

  std::string written() override {
    const auto flat = capnp::messageToFlatArray(builder_->getSegmentsForOutput());
    const auto bytes = flat.asBytes();
    return {bytes.begin(), bytes.end()};
  }

  void decode(hand::Bytes wire, hand::Lidar &message) override {
    capnp::FlatArrayMessageReader reader(
        kj::arrayPtr(reinterpret_cast<const capnp::word *>(wire.data), wire.size / 8));
    const auto root = reader.getRoot<wg::LidarPointsMsg>();
    const auto info = root.getInfo();
    message.info = {info.getKind(), info.getTimestamp(), info.getGuid()};
    const auto points = root.getPoints();
    message.points.resize(points.size());
    auto to = message.points.begin();
    for (const auto point : points) {
      to->position = {point.getPosition0(), point.getPosition1(), point.getPosition2()};
      to->intensity = point.getIntensity();
      ++to;
    }
  }

 private:
  std::vector<capnp::word> segment_;
  std::size_t needed_ = 0;
  std::unique_ptr<capnp::MallocMessageBuilder> builder_;
};

}  // namespace

int main() {
  CapnProto library;
  return hand::Server(library).serve();
}
