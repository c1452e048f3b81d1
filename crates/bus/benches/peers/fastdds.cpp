// The plainest round trip there can be over Fast DDS: a writer and a reader in each of two
// processes, the same type and QoS as the bus, and nothing else.
//
//     fastdds pong WAY SIZE DOMAIN
//     fastdds ping WAY SIZE DOMAIN NUMBER     prints the median of the round trips in nanoseconds

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <string>
#include <thread>
#include <vector>

#include "types.hpp"

using namespace eprosima::fastdds::dds;
namespace transports = eprosima::fastdds::rtps;
using Clock = std::chrono::steady_clock;

static std::string way;
static uint32_t size;
static std::vector<uint8_t> bytes;

template <typename Qos>
static void set(Qos &qos) {
  qos.reliability().kind = RELIABLE_RELIABILITY_QOS;
  qos.reliability().max_blocking_time = wiregauge::Duration(10, 0);
  qos.durability().kind = VOLATILE_DURABILITY_QOS;
  qos.history().kind = KEEP_ALL_HISTORY_QOS;
  // As many as the bus keeps of 500 B.
  const int32_t kept = way == "sharing" ? 64 : 10000;
  qos.resource_limits().max_samples = qos.resource_limits().max_samples_per_instance = kept;
  qos.resource_limits().max_instances = 1;
  qos.resource_limits().allocated_samples = 1;
  qos.resource_limits().extra_samples = 2;
  if (way == "sharing") {
    qos.data_sharing().on("");
    qos.endpoint().history_memory_policy = wiregauge::PREALLOCATED;
  } else {
    qos.data_sharing().off();
    qos.endpoint().history_memory_policy = wiregauge::DYNAMIC;
  }
}

static void send(DataWriter *writer) {
  void *written = nullptr;
  wiregauge::Sample sample;
  if (way == "sharing") {
    while (writer->loan_sample(written) != wiregauge::OK) std::this_thread::yield();
    std::memset(written, 1, size);
  } else {
    std::memset(bytes.data(), 1, size);
    sample.bytes = bytes.data();
    sample.size = size;
    written = &sample;
  }
  if (!wiregauge::write_in_time(*writer, written, std::chrono::seconds(5))) {
    std::fprintf(stderr, "cannot write\n");
    std::exit(1);
  }
}

static bool receive(DataReader *reader, uint32_t milliseconds) {
  static std::vector<uint8_t> taken;
  static LoanableSequence<wiregauge::Octet> lent;
  static SampleInfoSeq infos;
  for (;;) {
    const wiregauge::Duration patience(int32_t(milliseconds / 1000), milliseconds % 1000 * 1000000);
    if (!reader->wait_for_unread_message(patience)) return false;
    SampleInfo info;
    if (way == "sharing") {
      if (reader->take(lent, infos, 1) != wiregauge::OK) continue;
      info = infos[0];
      reader->return_loan(lent, infos);
    } else {
      wiregauge::Sample sample;
      sample.taken = &taken;
      if (reader->take_next_sample(&sample, &info) != wiregauge::OK) continue;
    }
    if (info.valid_data) return true;
  }
}

int main(int count, char **words) {
  if (count < 5) return 2;
  const bool ping = std::string(words[1]) == "ping";
  way = words[2];
  size = uint32_t(std::atoi(words[3]));
  bytes.resize(size);
  DomainParticipantQos qos = PARTICIPANT_QOS_DEFAULT;
  qos.transport().use_builtin_transports = false;
  if (way == "udp") {
    auto udp = std::make_shared<transports::UDPv4TransportDescriptor>();
    udp->sendBufferSize = udp->receiveBufferSize = 32 << 20;
    qos.transport().user_transports.push_back(udp);
  } else {
    auto memory = std::make_shared<transports::SharedMemTransportDescriptor>();
    memory->segment_size(64 << 20);
    qos.transport().user_transports.push_back(memory);
  }
  auto *factory = DomainParticipantFactory::get_instance();
  auto *participant = factory->create_participant(uint32_t(std::atoi(words[4])), qos);
  TypeSupport type(way == "sharing"
                       ? static_cast<TopicDataType *>(new wiregauge::BoundedType(size, true))
                       : new wiregauge::KeyedSeqType);
  type.register_type(participant);
  auto *there = participant->create_topic("there", type.get_type_name(), TOPIC_QOS_DEFAULT);
  auto *back = participant->create_topic("back", type.get_type_name(), TOPIC_QOS_DEFAULT);
  auto *publisher = participant->create_publisher(PUBLISHER_QOS_DEFAULT);
  auto *subscriber = participant->create_subscriber(SUBSCRIBER_QOS_DEFAULT);
  DataWriterQos writes = publisher->get_default_datawriter_qos();
  DataReaderQos reads = subscriber->get_default_datareader_qos();
  set(writes);
  set(reads);
  wiregauge::set_heartbeats(writes, 20000000, 100000000);
  auto *writer = publisher->create_datawriter(ping ? there : back, writes);
  auto *reader = subscriber->create_datareader(ping ? back : there, reads);
  if (writer == nullptr || reader == nullptr) return 1;
  const auto found = [&] {
    PublicationMatchedStatus written;
    SubscriptionMatchedStatus read;
    writer->get_publication_matched_status(written);
    reader->get_subscription_matched_status(read);
    return written.current_count > 0 && read.current_count > 0;
  };
  while (!found()) std::this_thread::sleep_for(std::chrono::milliseconds(10));
  if (ping) {
    // The other side may not know this one yet.
    do {
      send(writer);
    } while (!receive(reader, 200));
    while (receive(reader, 200)) {
    }
    std::vector<double> times;
    const auto start = Clock::now();
    for (int i = 0; i < std::atoi(words[5]); ++i) {
      std::this_thread::sleep_until(start + std::chrono::milliseconds(i));
      const auto sent = Clock::now();
      send(writer);
      if (!receive(reader, 5000)) {
        std::fprintf(stderr, "no answer to number %d\n", i);
        return 1;
      }
      times.push_back(std::chrono::duration<double, std::nano>(Clock::now() - sent).count());
    }
    std::sort(times.begin(), times.end());
    std::printf("%.0f\n", times[times.size() / 2]);
  } else {
    // Until nobody is there, and not for so long that nothing comes: the other side may have found
    // this one a while later.
    while (found()) {
      if (receive(reader, 200)) send(writer);
    }
  }
  participant->delete_contained_entities();
  factory->delete_participant(participant);
}
