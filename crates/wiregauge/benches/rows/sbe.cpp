// SBE by hand: the buffer is kept, and the message's flyweight is a local variable. Of one that
// is kept, g++ has to believe that each store into the buffer might change it (docs/by-hand.md).
#include "wg/LidarPointsMsg.h"

namespace {

using Flyweight = wg::LidarPointsMsg;
using Header = Flyweight::messageHeader;

class Sbe : public hand::ByHand {
 public:
  const char *library() override { return "sbe"; }

  std::size_t encode(const hand::Lidar &message) override {
    size_ = Header::encodedLength() + Flyweight::computeLength(message.points.size());
    if (out_.size() < size_) out_.resize(size_);
    Flyweight flyweight;
    flyweight.wrapAndApplyHeader(out_.data(), 0, out_.size());
    const hand::Info &info = message.info;
    flyweight.info_().kind_(info.kind).timestamp_(info.timestamp).guid_(info.guid);
    auto &points = flyweight.points_Count(static_cast<std::uint32_t>(message.points.size()));
    for (const hand::Point &point : message.points) {
      const auto &position = point.position;
      points.next().putPosition_(position[0], position[1], position[2]).intensity_(point.intensity);
    }
    hand::use(out_);
    return size_;
  }

  std::string written() override { return {out_.begin(), out_.begin() + long(size_)}; }

  void decode(hand::Bytes wire, hand::Lidar &message) override {
    auto *bytes = reinterpret_cast<char *>(const_cast<std::uint8_t *>(wire.data));
    Header header(bytes, 0, wire.size, Flyweight::sbeSchemaVersion());
    Flyweight flyweight;
    flyweight.wrapForDecode(bytes, Header::encodedLength(), header.blockLength(), header.version(),
                            wire.size);
    auto &info = flyweight.info_();
    message.info = {info.kind_(), info.timestamp_(), info.guid_()};
    auto &points = flyweight.points_();
    message.points.resize(points.count());
    for (hand::Point &to : message.points) {
      points.next();
      points.getPosition_(reinterpret_cast<char *>(to.position.data()), 3);
      to.intensity = points.intensity_();
    }
  }

 private:
  // Grows and is not cleared, so that nothing is zeroed.
  std::vector<char> out_;
  std::size_t size_ = 0;
};

}  // namespace

int main() {
  Sbe library;
  return hand::Server(library).serve();
}
