// ROS 1 by hand: a serializer a record, as gencpp writes them.
#include <ros/serialization.h>

namespace ros {
namespace serialization {

template <>
struct Serializer<hand::Info> {
  template <class Stream, class T>
  static void allInOne(Stream &stream, T m) {
    stream.next(m.kind);
    stream.next(m.timestamp);
    stream.next(m.guid);
  }
  ROS_DECLARE_ALLINONE_SERIALIZER
};

// An array is one call to gencpp, whose records have Boost's: it lies in memory like std's.
template <>
struct Serializer<hand::Point> {
  using Position = boost::array<float, 3>;
  static const Position &position(const hand::Point &m) {
    return reinterpret_cast<const Position &>(m.position);
  }
  static Position &position(hand::Point &m) { return reinterpret_cast<Position &>(m.position); }

  template <class Stream, class T>
  static void allInOne(Stream &stream, T m) {
    stream.next(position(m));
    stream.next(m.intensity);
  }
  ROS_DECLARE_ALLINONE_SERIALIZER
};

template <>
struct Serializer<hand::Lidar> {
  template <class Stream, class T>
  static void allInOne(Stream &stream, T m) {
    stream.next(m.info);
    stream.next(m.points);
  }
  ROS_DECLARE_ALLINONE_SERIALIZER
};

}  // namespace serialization

namespace message_traits {

template <>
struct IsFixedSize<hand::Point> : TrueType {};
template <>
struct IsFixedSize<const hand::Point> : TrueType {};

}  // namespace message_traits
}  // namespace ros

namespace {

class RosMsg : public hand::ByHand {
 public:
  const char *library() override { return "roscpp_serialization"; }

  std::size_t encode(const hand::Lidar &message) override {
    size_ = ros::serialization::serializationLength(message);
    if (out_.size() < size_) out_.resize(size_);
    ros::serialization::OStream stream(out_.data(), size_);
    ros::serialization::serialize(stream, message);
    hand::use(out_);
    return size_;
  }

  std::string written() override { return {out_.begin(), out_.begin() + size_}; }

  void decode(hand::Bytes wire, hand::Lidar &message) override {
    ros::serialization::IStream stream(const_cast<std::uint8_t *>(wire.data),
                                       static_cast<std::uint32_t>(wire.size));
    ros::serialization::deserialize(stream, message);
  }

 private:
  // Grows and is not cleared, so that nothing is zeroed.
  std::vector<std::uint8_t> out_;
  std::uint32_t size_ = 0;
};

}  // namespace

int main() {
  RosMsg library;
  return hand::Server(library).serve();
}
