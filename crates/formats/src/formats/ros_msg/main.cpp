// The normalized message by the serializers of ROS 1.
#include <ros/serialization.h>

#include <limits>

#include "glue.hpp"
#include "message.hpp"
#include "wiregauge/serve.hpp"
#include "wiregauge/whole.hpp"

namespace {

class RosMsg : public wiregauge::Whole<RosMsg> {
 public:
  using Object = wiregauge::None;
  static constexpr bool has_clients = true;
  static std::string library() { return "roscpp_serialization"; }

  void populate(const Message &, Object &) {}

  void write(const Message &message, Object &, wiregauge::Buffer &out) {
    const std::uint32_t size = ros::serialization::serializationLength(message);
    out.resize(size);
    ros::serialization::OStream stream(out.data(), size);
    ros::serialization::serialize(stream, message);
  }

  void parse(wiregauge::Wire, Object &) {}

  void extract(wiregauge::Wire wire, Object &, Message &message) {
    if (wire.size > std::numeric_limits<std::uint32_t>::max())
      throw std::runtime_error("longer than 4 GiB");
    // The library takes a pointer that it might write to, but only reads here.
    ros::serialization::IStream stream(const_cast<std::uint8_t *>(wire.data),
                                       static_cast<std::uint32_t>(wire.size));
    ros::serialization::deserialize(stream, message);
    if (stream.getLength() != 0) throw std::runtime_error("bytes left over after the message");
  }
};

}  // namespace

int main() { return wiregauge::serve<RosMsg>(); }
