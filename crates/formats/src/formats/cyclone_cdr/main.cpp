// The normalized message by the streams of Cyclone DDS.
#include "dds/ddsi/ddsi_cdrstream.h"
#include "dds/version.h"
#include "glue.hpp"
#include "message.hpp"
#include "wiregauge/c_struct_codec.hpp"
#include "wiregauge/serve.hpp"

namespace {

using c_struct::Root;

// What was read keeps its memory until another is read.
class Object : public c_struct::Messages {
 public:
  ~Object() { dds_stream_free_sample(&parsed_, kTopic.m_ops); }

  Root &parsed() { return parsed_; }
};

class Cyclone : public c_struct::Structs<Cyclone> {
 public:
  using Object = ::Object;
  static std::string library() { return "Cyclone DDS " DDS_VERSION; }
  static constexpr bool verifies = true;

  // The type as the library's own readers and writers know it.
  Cyclone() {
    const dds_topic_descriptor_t &topic = kTopic;
    type_.type.size = topic.m_size;
    type_.type.align = topic.m_align;
    type_.type.flagset = topic.m_flagset;
    type_.type.ops.ops = const_cast<std::uint32_t *>(topic.m_ops);
    type_.type.ops.nops = dds_stream_countops(topic.m_ops, topic.m_nkeys, topic.m_keys);
    type_.opt_size_xcdr1 = dds_stream_check_optimize(&type_.type, CDR_ENC_VERSION_1);
    type_.opt_size_xcdr2 = dds_stream_check_optimize(&type_.type, CDR_ENC_VERSION_2);
    version_ = dds_stream_minimum_xcdr_version(topic.m_ops);
  }

  void write(const Message &message, Object &object, wiregauge::Buffer &out) {
    const std::size_t bound = message::bound(message);
    if (bound > UINT32_MAX / 2) throw wiregauge::Rejected("it is longer than 2 GiB");
    out.reserve(bound);
    dds_ostream_t stream{out.data(), static_cast<std::uint32_t>(out.capacity()), 0, version_};
    const bool written = dds_stream_write_sample(&stream, &object.filled(), &type_);
    // Had the stream outgrown its room, the buffer would be gone.
    if (stream.m_buffer != out.data()) std::abort();
    if (!written) throw std::runtime_error("Cyclone DDS cannot write the message");
    out.resize(stream.m_index);
  }

  void parse(wiregauge::Wire wire, Object &object) {
    normalize(wire);
    if constexpr (kReadsIntoEmpty) {
      dds_stream_free_sample(&object.parsed(), kTopic.m_ops);
      object.parsed() = Root{};
    }
    dds_istream_t stream;
    dds_istream_init(&stream, static_cast<std::uint32_t>(wire.size), received_.data(), version_);
    dds_stream_read_sample(&stream, &object.parsed(), &type_);
    dds_istream_fini(&stream);
  }

  void verify(wiregauge::Wire wire) { normalize(wire); }

 private:
  // Checks the bytes, in a copy: the library may change what it normalizes.
  void normalize(wiregauge::Wire wire) {
    if (wire.size > UINT32_MAX / 2) throw std::runtime_error("longer than 2 GiB");
    received_.clear();
    received_.append(wire.data, wire.size);
    const auto size = static_cast<std::uint32_t>(wire.size);
    std::uint32_t used = 0;
    if (!dds_stream_normalize(received_.data(), size, false, version_, &type_, false, &used))
      throw std::runtime_error("not CDR of this type");
    if (used != size) throw std::runtime_error("bytes left over after the message");
  }

  ddsi_sertype_default type_{};
  std::uint32_t version_ = 0;
  wiregauge::Buffer received_{64};
};

}  // namespace

int main() { return wiregauge::serve<Cyclone>(); }
