// The part of Fast DDS that carries samples, as few plain functions, so that Rust sees none of
// the library's classes. Fast DDS 2 and 3 name some things otherwise: `types.hpp` has both names.

#include <chrono>
#include <cstdint>
#include <cstring>
#include <fastdds/dds/core/condition/StatusCondition.hpp>
#include <fastdds/dds/core/condition/WaitSet.hpp>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/log/Log.hpp>
#include <fastdds/dds/log/StdoutErrConsumer.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <thread>
#include <unordered_map>
#include <vector>

#include "shared_memory.hpp"
#include "types.hpp"

namespace fastdds = eprosima::fastdds::dds;
namespace transports = eprosima::fastdds::rtps;

namespace wiregauge {

// How samples travel; the numbers are those of the Rust side.
enum class Way : int32_t { Udp = 0, SharedMemory = 1, DataSharing = 2 };

struct Settings {
  uint32_t domain;
  int32_t way;
  // The names of the topics.
  const char *const *topics;
  size_t count;
  // What the names of shared memory begin with; none for the library's own.
  const char *prefix;
  // The folder of certificates and what they sign; an empty text for none.
  const char *certificates;
  // The size of each sample, or of the largest where they differ.
  uint32_t size;
  bool varies;
  bool reads;
  bool reliable;
  // So many of the newest samples are kept, or all for 0.
  int32_t depth;
  // Samples that a writer keeps until they are acknowledged, and a reader until they are read.
  int32_t kept;
  // How long a write waits at most, in nanoseconds.
  int64_t blocking;
  uint32_t segment;
};

// Samples of one size without a key can be written and read where they lie.
using Samples = fastdds::LoanableSequence<Octet>;

// The writer or the reader of a topic.
struct End {
  fastdds::DataWriter *writer = nullptr;
  fastdds::DataReader *reader = nullptr;
  // Room for the next sample, lent by the library.
  void *written = nullptr;
  uint32_t sequence = 0;
  // Whether the reader may have samples: it was told to, and not found empty since.
  bool ready = true;
};

struct Endpoint {
  fastdds::DomainParticipant *participant = nullptr;
  fastdds::Publisher *publisher = nullptr;
  fastdds::Subscriber *subscriber = nullptr;
  std::vector<End> ends;
  // Where several readers are waited for, and which of them a condition is of.
  fastdds::WaitSet waitset;
  std::unordered_map<fastdds::Condition *, size_t> conditions;
  // The reader whose turn it is.
  size_t turn = 0;
  bool in_place = false;
  int64_t blocking = 0;
  Sample sample;
  // The size of each sample in place.
  uint32_t size = 0;
  // A sample that was read, where it is not read in place.
  std::vector<uint8_t> bytes;
  Samples read;
  fastdds::SampleInfoSeq infos;
  // The reader that lent them.
  fastdds::DataReader *lender = nullptr;

  ~Endpoint() {
    if (lender != nullptr && read.length() > 0) lender->return_loan(read, infos);
    for (End &end : ends)
      if (end.writer != nullptr && end.written != nullptr) end.writer->discard_loan(end.written);
    for (const auto &condition : conditions) waitset.detach_condition(*condition.first);
    if (participant == nullptr) return;
    participant->delete_contained_entities();
    fastdds::DomainParticipantFactory::get_instance()->delete_participant(participant);
  }
};

// Has the participant prove who it is, and protect what the governance says.
static void protect(fastdds::DomainParticipantQos &qos, const std::string &folder) {
  auto &properties = qos.properties().properties();
  const std::string authentication = "dds.sec.auth.builtin.PKI-DH.";
  const std::string access = "dds.sec.access.builtin.Access-Permissions.";
  properties.emplace_back("dds.sec.auth.plugin", "builtin.PKI-DH");
  properties.emplace_back("dds.sec.access.plugin", "builtin.Access-Permissions");
  properties.emplace_back("dds.sec.crypto.plugin", "builtin.AES-GCM-GMAC");
  const auto file = [&](const std::string &name, const char *value) {
    properties.emplace_back(name, "file://" + folder + "/" + value);
  };
  file(authentication + "identity_ca", "identity_ca.cert.pem");
  file(authentication + "identity_certificate", "cert.pem");
  file(authentication + "private_key", "key.pem");
  file(access + "permissions_ca", "permissions_ca.cert.pem");
  file(access + "governance", "governance.p7s");
  file(access + "permissions", "permissions.p7s");
}

static fastdds::DomainParticipantQos participant_qos(const Settings &settings) {
  fastdds::DomainParticipantQos qos = fastdds::PARTICIPANT_QOS_DEFAULT;
  qos.transport().use_builtin_transports = false;
  if (Way(settings.way) == Way::Udp) {
    auto udp = std::make_shared<transports::UDPv4TransportDescriptor>();
    // As much as the system gives: a large sample comes as a burst of datagrams.
    udp->sendBufferSize = udp->receiveBufferSize = 32 << 20;
    qos.transport().user_transports.push_back(udp);
  } else {
    auto memory = std::make_shared<transports::SharedMemTransportDescriptor>();
    memory->segment_size(settings.segment);
    qos.transport().user_transports.push_back(memory);
  }
  return qos;
}

template <typename Qos>
static void set_endpoint_qos(Qos &qos, const Settings &settings) {
  qos.reliability().kind =
      settings.reliable ? fastdds::RELIABLE_RELIABILITY_QOS : fastdds::BEST_EFFORT_RELIABILITY_QOS;
  qos.reliability().max_blocking_time =
      Duration(int32_t(settings.blocking / 1000000000), uint32_t(settings.blocking % 1000000000));
  qos.durability().kind = fastdds::VOLATILE_DURABILITY_QOS;
  qos.history().kind =
      settings.depth > 0 ? fastdds::KEEP_LAST_HISTORY_QOS : fastdds::KEEP_ALL_HISTORY_QOS;
  if (settings.depth > 0) qos.history().depth = settings.depth;
  const int32_t kept = settings.depth > 0 ? settings.depth : settings.kept;
  qos.resource_limits().max_samples = kept;
  qos.resource_limits().max_instances = 1;
  qos.resource_limits().max_samples_per_instance = kept;
  qos.resource_limits().allocated_samples = 1;
  // One that is being written or read, beside those that are kept.
  qos.resource_limits().extra_samples = 2;
  if (Way(settings.way) == Way::DataSharing) {
    qos.data_sharing().on("");
    // Shared memory cannot grow.
    qos.endpoint().history_memory_policy = PREALLOCATED;
  } else {
    qos.data_sharing().off();
    qos.endpoint().history_memory_policy = DYNAMIC;
  }
}

// The library's words go to standard error, all of them: standard output is who conducts us.
static void log_to_standard_error() {
  auto consumer = std::make_unique<fastdds::StdoutErrConsumer>();
  consumer->stderr_threshold(fastdds::Log::Kind::Info);
  fastdds::Log::ClearConsumers();
  fastdds::Log::RegisterConsumer(std::move(consumer));
}

// A library that was compiled without security takes no notice of what it is told of it, and all
// would go as it is. One with it has no participant whose certificates are not there.
static void need_security(const Settings &settings, fastdds::DomainParticipantQos qos) {
  protect(qos, "/nowhere");
  auto *factory = fastdds::DomainParticipantFactory::get_instance();
  // What it says of it would only be taken for a fault.
  fastdds::Log::ClearConsumers();
  auto *open = factory->create_participant(settings.domain, qos);
  fastdds::Log::Flush();
  log_to_standard_error();
  if (open == nullptr) return;
  factory->delete_participant(open);
  throw std::runtime_error("it was compiled without security, so nothing would be encrypted");
}

static void open(const Settings &settings, Endpoint &end) {
  const auto need = [](const void *there, const char *what) {
    if (there == nullptr) throw std::runtime_error(what);
  };
  const bool sharing = Way(settings.way) == Way::DataSharing;
  end.in_place = sharing && !settings.varies;
  end.blocking = settings.blocking;
  end.size = settings.size;
  fastdds::DomainParticipantQos qos = participant_qos(settings);
  const bool is_protected = settings.certificates[0] != 0;
  if (is_protected) {
    need_security(settings, qos);
    protect(qos, settings.certificates);
  }
  end.participant =
      fastdds::DomainParticipantFactory::get_instance()->create_participant(settings.domain, qos);
  need(end.participant, is_protected ? "no participant; are its certificates right?"
                                     : "no participant; is its port in use, or no memory shared?");
  // The library refuses data sharing for a type with a key or without a largest size.
  fastdds::TypeSupport type(sharing ? static_cast<fastdds::TopicDataType *>(
                                          new BoundedType(settings.size, !settings.varies))
                                    : new KeyedSeqType);
  if (type.register_type(end.participant) != OK) throw std::runtime_error("no type");
  end.ends.resize(settings.count);
  std::vector<fastdds::Topic *> topics;
  for (size_t i = 0; i < settings.count; ++i) {
    topics.push_back(end.participant->create_topic(settings.topics[i], type.get_type_name(),
                                                   fastdds::TOPIC_QOS_DEFAULT));
    need(topics.back(), "no topic");
  }
  if (settings.reads) {
    end.subscriber = end.participant->create_subscriber(fastdds::SUBSCRIBER_QOS_DEFAULT);
    need(end.subscriber, "no subscriber");
    fastdds::DataReaderQos qos = end.subscriber->get_default_datareader_qos();
    set_endpoint_qos(qos, settings);
    for (size_t i = 0; i < settings.count; ++i) {
      auto *reader = end.ends[i].reader = end.subscriber->create_datareader(topics[i], qos);
      need(reader, "no reader");
      // One alone is waited for by itself.
      if (settings.count == 1) continue;
      fastdds::StatusCondition &condition = reader->get_statuscondition();
      condition.set_enabled_statuses(fastdds::StatusMask::data_available());
      end.waitset.attach_condition(condition);
      end.conditions[&condition] = i;
    }
  } else {
    end.publisher = end.participant->create_publisher(fastdds::PUBLISHER_QOS_DEFAULT);
    need(end.publisher, "no publisher");
    fastdds::DataWriterQos qos = end.publisher->get_default_datawriter_qos();
    set_endpoint_qos(qos, settings);
    qos.publish_mode().kind = fastdds::SYNCHRONOUS_PUBLISH_MODE;
    // By default 3 s, and a writer that keeps all it may waits for that long.
    set_heartbeats(qos, 20000000, 100000000);
    for (size_t i = 0; i < settings.count; ++i) {
      end.ends[i].writer = end.publisher->create_datawriter(topics[i], qos);
      need(end.ends[i].writer, "no writer; is /dev/shm large enough?");
    }
  }
}

}  // namespace wiregauge

using wiregauge::Endpoint;
using wiregauge::Settings;

extern "C" {

// Opens writers or readers in one participant; what is wrong, or nothing.
const char *wiregauge_fastdds_open(const Settings *settings, Endpoint **opened) {
  static thread_local std::string wrong;
  wiregauge::name_shared_memory(settings->prefix);
  auto end = std::unique_ptr<Endpoint>(new (std::nothrow) Endpoint);
  if (end == nullptr) return "no memory";
  try {
    wiregauge::log_to_standard_error();
    wiregauge::open(*settings, *end);
  } catch (const std::exception &error) {
    wrong = error.what();
    return wrong.c_str();
  }
  *opened = end.release();
  return nullptr;
}

void wiregauge_fastdds_close(Endpoint *end) { delete end; }

// The library's version, as major, minor and micro in a byte each.
uint32_t wiregauge_fastdds_version() { return wiregauge::VERSION; }

// How many readers the writer has found that has found least, or less than 0.
int32_t wiregauge_fastdds_readers(Endpoint *end) {
  int32_t least = INT32_MAX;
  for (const auto &one : end->ends) {
    fastdds::PublicationMatchedStatus status;
    if (one.writer->get_publication_matched_status(status) != wiregauge::OK) return -1;
    if (status.current_count < least) least = status.current_count;
  }
  return least;
}

// Whether reliable readers have acknowledged all that was written.
bool wiregauge_fastdds_acknowledged(Endpoint *end) {
  for (const auto &one : end->ends)
    if (one.writer->wait_for_acknowledgments(wiregauge::Duration(0, 0)) != wiregauge::OK)
      return false;
  return true;
}

// Room for a sample where it will be read, or none where there is none to lend.
uint8_t *wiregauge_fastdds_loan(Endpoint *end, size_t topic) {
  if (!end->in_place) return nullptr;
  auto &one = end->ends[topic];
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(end->blocking);
  while (one.written == nullptr) {
    if (one.writer->loan_sample(one.written) == wiregauge::OK) break;
    one.written = nullptr;
    // All are at readers, who give them back.
    if (std::chrono::steady_clock::now() >= deadline) return nullptr;
    std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  return static_cast<uint8_t *>(one.written);
}

// Writes what was lent, or these bytes. Whether it went; waits for room as long as was set.
bool wiregauge_fastdds_write(Endpoint *end, size_t topic, const uint8_t *bytes, uint32_t size) {
  auto &one = end->ends[topic];
  void *sample = end->in_place ? one.written : &end->sample;
  end->sample.bytes = bytes;
  end->sample.size = size;
  end->sample.sequence = one.sequence;
  if (!wiregauge::write_in_time(*one.writer, sample, std::chrono::nanoseconds(end->blocking)))
    return false;
  one.written = nullptr;
  ++one.sequence;
  return true;
}

// The next reader in turn that may have samples, or none.
static wiregauge::End *ready_reader(Endpoint *end) {
  for (size_t i = 0; i < end->ends.size(); ++i) {
    const size_t turn = (end->turn + i) % end->ends.size();
    if (!end->ends[turn].ready) continue;
    end->turn = turn;
    return &end->ends[turn];
  }
  return nullptr;
}

// Waits until a reader may have samples, for so long at most.
static void await_samples(Endpoint *end, std::chrono::nanoseconds most) {
  const wiregauge::Duration left(int32_t(most.count() / 1000000000),
                                 uint32_t(most.count() % 1000000000));
  if (end->ends.size() == 1) {
    end->ends[0].reader->wait_for_unread_message(left);
    end->ends[0].ready = true;
    return;
  }
  fastdds::ConditionSeq found;
  end->waitset.wait(found, left);
  for (auto *condition : found) end->ends[end->conditions[condition]].ready = true;
}

// The next sample of any topic, and which that is: 1 if there is one, 0 if none came in time, -1 if
// it cannot be read. It is valid until the next call.
int32_t wiregauge_fastdds_next(Endpoint *end, int64_t patience, size_t *topic,
                               const uint8_t **bytes, uint32_t *size) {
  if (end->read.length() > 0 && end->lender->return_loan(end->read, end->infos) != wiregauge::OK)
    return -1;
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::nanoseconds(patience);
  for (;;) {
    wiregauge::End *one = ready_reader(end);
    if (one == nullptr) {
      const auto left = deadline - std::chrono::steady_clock::now();
      if (left <= left.zero()) break;
      await_samples(end, left);
      continue;
    }
    fastdds::SampleInfo info;
    wiregauge::ReturnCode code = wiregauge::OK;
    if (end->in_place) {
      end->lender = one->reader;
      code = one->reader->take(end->read, end->infos, 1);
      if (code == wiregauge::OK) {
        info = end->infos[0];
        *bytes = reinterpret_cast<const uint8_t *>(end->read.buffer()[0]);
        *size = end->size;
      }
    } else {
      end->sample.taken = &end->bytes;
      code = one->reader->take_next_sample(&end->sample, &info);
      *bytes = end->bytes.data();
      *size = uint32_t(end->bytes.size());
    }
    if (code == wiregauge::OK && info.valid_data && *size > 0) {
      *topic = end->turn;
      // All have their turn.
      end->turn = (end->turn + 1) % end->ends.size();
      return 1;
    }
    if (code == wiregauge::OK) {
      // Only news of a writer, or its greeting.
      if (end->in_place) one->reader->return_loan(end->read, end->infos);
      continue;
    }
    if (code != wiregauge::NO_DATA) return -1;
    one->ready = false;
  }
  // What comes from now on is looked for first the next time.
  for (auto &one : end->ends) one.ready = true;
  return 0;
}
}
