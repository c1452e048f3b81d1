// The type of samples, written by hand instead of by a generator, and what Fast DDS 2 and 3 name
// otherwise.
#pragma once

#include <chrono>
#include <cstdint>
#include <cstring>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/dds/topic/TypeSupport.hpp>
#include <thread>
#include <vector>

#if __has_include(<fastrtps/config.h>)
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>
#include <fastdds/rtps/transport/shared_mem/SharedMemTransportDescriptor.h>
#include <fastrtps/config.h>
#include <fastrtps/types/TypesBase.h>
#else
#include <fastdds/config.hpp>
#include <fastdds/rtps/common/SerializedPayload.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.hpp>
#include <fastdds/rtps/transport/shared_mem/SharedMemTransportDescriptor.hpp>
#define WIREGAUGE_FASTDDS_3
#endif

namespace wiregauge {

#ifdef WIREGAUGE_FASTDDS_3
namespace rtps = eprosima::fastdds::rtps;
using Duration = eprosima::fastdds::dds::Duration_t;
using ReturnCode = eprosima::fastdds::dds::ReturnCode_t;
inline const ReturnCode OK = eprosima::fastdds::dds::RETCODE_OK;
inline const ReturnCode NO_DATA = eprosima::fastdds::dds::RETCODE_NO_DATA;
inline const ReturnCode TIMEOUT = eprosima::fastdds::dds::RETCODE_TIMEOUT;
constexpr uint32_t VERSION =
    FASTDDS_VERSION_MAJOR << 16 | FASTDDS_VERSION_MINOR << 8 | FASTDDS_VERSION_MICRO;
#else
namespace rtps = eprosima::fastrtps::rtps;
using Duration = eprosima::fastrtps::Duration_t;
using ReturnCode = eprosima::fastrtps::types::ReturnCode_t;
inline const ReturnCode OK = ReturnCode::RETCODE_OK;
inline const ReturnCode NO_DATA = ReturnCode::RETCODE_NO_DATA;
inline const ReturnCode TIMEOUT = ReturnCode::RETCODE_TIMEOUT;
constexpr uint32_t VERSION =
    FASTRTPS_VERSION_MAJOR << 16 | FASTRTPS_VERSION_MINOR << 8 | FASTRTPS_VERSION_MICRO;
#endif
// A writer asks so often what readers have, as long as they have not said so. It asks a new reader
// for the first time after the second of these times: Cyclone's reader takes all that was written
// before the first question that it hears for history, which it does not want. By default Fast DDS
// asks after 12 ms, when the reader may not know the writer yet, and then in the midst of the first
// large sample.
template <typename Qos>
void set_heartbeats(Qos &qos, uint32_t period, uint32_t first) {
  auto &times = qos.reliable_writer_qos().times;
#ifdef WIREGAUGE_FASTDDS_3
  times.heartbeat_period = Duration(0, period);
  times.initial_heartbeat_delay = Duration(0, first);
#else
  times.heartbeatPeriod = Duration(0, period);
  times.initialHeartbeatDelay = Duration(0, first);
#endif
}

using InstanceHandle = rtps::InstanceHandle_t;

// Whether a sample went. A writer whose history is full waits for acknowledgements; but Fast DDS
// 2.9 says that the time is up as soon as one came and made no room, after a millisecond or
// thirty. So we ask again until it is.
template <typename Writer>
bool write_in_time(Writer &writer, void *sample, std::chrono::nanoseconds most) {
  const auto deadline = std::chrono::steady_clock::now() + most;
  for (;;) {
    const ReturnCode code = writer.write(sample, InstanceHandle());
    if (code == OK) return true;
    if (code != TIMEOUT || std::chrono::steady_clock::now() >= deadline) return false;
    std::this_thread::sleep_for(std::chrono::microseconds(20));
  }
}

using Payload = rtps::SerializedPayload_t;
constexpr auto PREALLOCATED = rtps::PREALLOCATED_MEMORY_MODE;
constexpr auto DYNAMIC = rtps::DYNAMIC_REUSABLE_MEMORY_MODE;

// A sample of one size where it lies.
struct Octet {
  uint8_t first;
};

// A sample as the program has it.
struct Sample {
  uint32_t sequence = 0;
  uint32_t key = 0;
  const uint8_t *bytes = nullptr;
  uint32_t size = 0;
  // Where one that is read goes; nowhere where only its key is wanted.
  std::vector<uint8_t> *taken = nullptr;
};

// What stands before the fields: XCDR1 in little-endian, no options.
constexpr uint8_t HEAD[4] = {0, 1, 0, 0};

inline uint32_t get(const uint8_t *from) {
  return uint32_t(from[0]) | uint32_t(from[1]) << 8 | uint32_t(from[2]) << 16 |
         uint32_t(from[3]) << 24;
}

inline void put(uint8_t *to, uint32_t value) {
  for (int i = 0; i < 4; ++i) to[i] = uint8_t(value >> (8 * i));
}

// What a type does in both versions of the library, which ask by different names.
class Type : public eprosima::fastdds::dds::TopicDataType {
 public:
  virtual uint32_t size_of(const Sample &sample) const = 0;
  virtual void write(const Sample &sample, uint8_t *to) const = 0;
  // Whether these bytes are one.
  virtual bool read(const uint8_t *from, uint32_t size, Sample &sample) const = 0;

  bool to_payload(const void *data, Payload &payload) const {
    const Sample &sample = *static_cast<const Sample *>(data);
    const uint32_t size = size_of(sample);
    if (payload.max_size < size) return false;
    payload.encapsulation = CDR_LE;
    payload.length = size;
    std::memcpy(payload.data, HEAD, sizeof HEAD);
    write(sample, payload.data + sizeof HEAD);
    return true;
  }

  bool from_payload(const Payload &payload, void *data) const {
    if (payload.length < sizeof HEAD || payload.data[0] != 0 || payload.data[1] != 1) return false;
    return read(payload.data + sizeof HEAD, payload.length - sizeof HEAD,
                *static_cast<Sample *>(data));
  }

  // Not longer than a handle, so that it needs no hash: the key in big-endian.
  static bool key_of(const void *data, InstanceHandle &handle) {
    const uint32_t key = static_cast<const Sample *>(data)->key;
    for (int i = 0; i < 16; ++i) handle.value[i] = i < 4 ? uint8_t(key >> (24 - 8 * i)) : 0;
    return true;
  }

#ifdef WIREGAUGE_FASTDDS_3
  using Representation = eprosima::fastdds::dds::DataRepresentationId_t;
  bool serialize(const void *const data, Payload &payload, Representation) override {
    return to_payload(data, payload);
  }
  bool deserialize(Payload &payload, void *data) override { return from_payload(payload, data); }
  uint32_t calculate_serialized_size(const void *const data, Representation) override {
    return size_of(*static_cast<const Sample *>(data));
  }
  void *create_data() override { return new Sample; }
  void delete_data(void *data) override { delete static_cast<Sample *>(data); }
  bool compute_key(Payload &payload, InstanceHandle &handle, bool) override {
    Sample sample;
    return is_compute_key_provided && from_payload(payload, &sample) && key_of(&sample, handle);
  }
  bool compute_key(const void *const data, InstanceHandle &handle, bool) override {
    return is_compute_key_provided && key_of(data, handle);
  }
  bool is_plain(Representation) const override { return plain; }
  void describe(const char *name, uint32_t largest, bool keyed) {
    set_name(name);
    max_serialized_type_size = largest;
    is_compute_key_provided = keyed;
  }
#else
  bool serialize(void *data, Payload *payload) override { return to_payload(data, *payload); }
  bool deserialize(Payload *payload, void *data) override { return from_payload(*payload, data); }
  std::function<uint32_t()> getSerializedSizeProvider(void *data) override {
    return [this, data] { return size_of(*static_cast<const Sample *>(data)); };
  }
  void *createData() override { return new Sample; }
  void deleteData(void *data) override { delete static_cast<Sample *>(data); }
  bool getKey(void *data, InstanceHandle *handle, bool) override {
    return m_isGetKeyDefined && key_of(data, *handle);
  }
  bool is_plain() const override { return plain; }
  void describe(const char *name, uint32_t largest, bool keyed) {
    setName(name);
    m_typeSize = largest;
    m_isGetKeyDefined = keyed;
    // There is no description of the type to send: it is known by its name.
    auto_fill_type_object(false);
    auto_fill_type_information(false);
  }
#endif

 protected:
  // Whether a sample in memory is its bytes on the wire.
  bool plain = false;
};

// The type of ddsperf, as in dds/sample.idl: sequence, key, octets.
class KeyedSeqType : public Type {
 public:
  KeyedSeqType() { describe("KeyedSeq", 4 + 12, true); }
  uint32_t size_of(const Sample &sample) const override { return 4 + 12 + sample.size; }
  void write(const Sample &sample, uint8_t *to) const override {
    put(to, sample.sequence);
    put(to + 4, sample.key);
    put(to + 8, sample.size);
    if (sample.size > 0) std::memcpy(to + 12, sample.bytes, sample.size);
  }
  bool read(const uint8_t *from, uint32_t size, Sample &sample) const override {
    if (size < 12 || get(from + 8) > size - 12) return false;
    sample.sequence = get(from);
    sample.key = get(from + 4);
    if (sample.taken != nullptr) sample.taken->assign(from + 12, from + 12 + get(from + 8));
    return true;
  }
};

// Octets up to a largest size, or all of one size.
class BoundedType : public Type {
 public:
  BoundedType(uint32_t size, bool fixed) {
    describe(fixed ? "OctetArray" : "OctetSequence", size + (fixed ? 4 : 8), false);
    plain = fixed;
    size_ = size;
  }
  bool is_bounded() const override { return true; }
  uint32_t size_of(const Sample &sample) const override {
    return plain ? 4 + size_ : 8 + sample.size;
  }
  void write(const Sample &sample, uint8_t *to) const override {
    put(to, sample.size);
    if (sample.size > 0) std::memcpy(to + 4, sample.bytes, sample.size);
  }
  bool read(const uint8_t *from, uint32_t size, Sample &sample) const override {
    if (size < 4 || get(from) > size - 4) return false;
    if (sample.taken != nullptr) sample.taken->assign(from + 4, from + 4 + get(from));
    return true;
  }

 private:
  uint32_t size_ = 0;
};

}  // namespace wiregauge
