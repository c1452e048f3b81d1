// Cyclone DDS by hand, by the streams of its readers and writers: points lie in memory as
// Cyclone's do, and are pointed to. What is received is copied and checked, and then read.
#include "dds/ddsi/ddsi_cdrstream.h"
#include "message.h"

namespace {

static_assert(sizeof(hand::Point) == sizeof(wg_LidarPoint), "both lie in memory alike");

using Object = wg_LidarPointsMsg;

Object object_of(const hand::Lidar &from) {
  Object object{};
  object.info = {from.info.kind, from.info.timestamp, from.info.guid};
  const auto *points = reinterpret_cast<const wg_LidarPoint *>(from.points.data());
  object.points._buffer = const_cast<wg_LidarPoint *>(points);
  object.points._length = static_cast<std::uint32_t>(from.points.size());
  object.points._maximum = object.points._length;
  return object;
}

class Cyclone : public hand::ByHand {
 public:
  Cyclone() {
    const dds_topic_descriptor_t &topic = wg_LidarPointsMsg_desc;
    type_.type.size = topic.m_size;
    type_.type.align = topic.m_align;
    type_.type.flagset = topic.m_flagset;
    type_.type.ops.nops = dds_stream_countops(topic.m_ops, topic.m_nkeys, topic.m_keys);
    type_.type.ops.ops = const_cast<std::uint32_t *>(topic.m_ops);
    type_.opt_size_xcdr1 = dds_stream_check_optimize(&type_.type, CDR_ENC_VERSION_1);
    type_.opt_size_xcdr2 = dds_stream_check_optimize(&type_.type, CDR_ENC_VERSION_2);
    dds_ostream_init(&out_, 0, CDR_ENC_VERSION_1);
  }
  ~Cyclone() override { dds_ostream_fini(&out_); }

  const char *library() override { return "Cyclone DDS"; }
  bool has_object() override { return true; }

  std::size_t encode(const hand::Lidar &message) override { return write_of(object_of(message)); }

  std::string written() override { return {out_.m_buffer, out_.m_buffer + out_.m_index}; }

  void decode(hand::Bytes wire, hand::Lidar &message) override {
    Object object = read(wire);
    message.info = {object.info.kind, object.info.timestamp, object.info.guid};
    const auto *points = reinterpret_cast<const hand::Point *>(object.points._buffer);
    message.points.assign(points, points + object.points._length);
    dds_stream_free_sample(&object, type_.type.ops.ops);
  }

  void fill(const std::vector<hand::Lidar> &messages) override {
    objects_.clear();
    for (const hand::Lidar &message : messages) objects_.push_back(object_of(message));
  }
  std::size_t write(std::size_t index) override { return write_of(objects_[index]); }
  void parse(hand::Bytes wire) override {
    Object object = read(wire);
    hand::use(object);
    dds_stream_free_sample(&object, type_.type.ops.ops);
  }

 private:
  std::size_t write_of(const Object &object) {
    out_.m_index = 0;
    if (!dds_stream_write_sample(&out_, &object, &type_)) std::abort();
    hand::use(out_);
    return out_.m_index;
  }

  Object read(hand::Bytes wire) {
    received_.assign(wire.data, wire.data + wire.size);
    const auto size = static_cast<std::uint32_t>(wire.size);
    std::uint32_t used = 0;
    if (!dds_stream_normalize(received_.data(), size, false, CDR_ENC_VERSION_1, &type_, false,
                              &used))
      std::abort();
    dds_istream_t stream;
    dds_istream_init(&stream, size, received_.data(), CDR_ENC_VERSION_1);
    Object object{};
    dds_stream_read_sample(&stream, &object, &type_);
    dds_istream_fini(&stream);
    return object;
  }

  ddsi_sertype_default type_{};
  dds_ostream_t out_{};
  std::vector<std::uint8_t> received_;
  std::vector<Object> objects_;
};

}  // namespace

int main() {
  Cyclone library;
  return hand::Server(library).serve();
}
