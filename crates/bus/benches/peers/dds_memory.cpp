// The plainest round trip there can be over Cyclone DDS in the shared memory of iceoryx: samples
// that are lent and read where they lie. RouDi runs.
//
//     dds_memory pong SIZE
//     dds_memory ping SIZE NUMBER   prints the median of the round trips in nanoseconds

#include <dds/dds.h>
#include <dds/ddsc/dds_loan_api.h>
#include <dds/ddsi/ddsi_serdata.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;

static const char *const configuration =
    "<CycloneDDS><Domain><SharedMemory><Enable>true</Enable><LogLevel>error</LogLevel>"
    "</SharedMemory></Domain></CycloneDDS>";

[[noreturn]] static void fail(const char *what, dds_return_t code) {
  fprintf(stderr, "%s: %s\n", what, dds_strretcode(code));
  exit(1);
}

static dds_return_t checked(const char *what, dds_return_t code) {
  if (code < 0) fail(what, code);
  return code;
}

static dds_entity_t writer, reader, waitset;
static uint32_t size;

static void send() {
  void *sample;
  checked("dds_loan_sample", dds_loan_sample(writer, &sample));
  memset(sample, 1, size);
  checked("dds_write", dds_write(writer, sample));
}

// Whether a sample came within so many milliseconds.
static bool receive(int64_t patience) {
  const dds_time_t deadline = dds_time() + DDS_MSECS(patience);
  for (;;) {
    ddsi_serdata *sample;
    dds_sample_info_t info;
    if (checked("dds_takecdr", dds_takecdr(reader, &sample, 1, &info, DDS_ANY_STATE)) > 0) {
      const bool shared = sample->iox_chunk != nullptr, valid = info.valid_data;
      ddsi_serdata_unref(sample);
      if (!valid) continue;
      if (!shared) fail("a sample came over the network", DDS_RETCODE_ERROR);
      return true;
    }
    const dds_duration_t left = deadline - dds_time();
    if (left <= 0) return false;
    dds_attach_t found;
    checked("dds_waitset_wait", dds_waitset_wait(waitset, &found, 1, left));
  }
}

int main(int count, char **words) {
  if (count < 3) return 2;
  const bool pings = strcmp(words[1], "ping") == 0;
  size = strtoul(words[2], nullptr, 10);
  const dds_entity_t domain = checked("dds_create_domain", dds_create_domain(77, configuration));
  const dds_entity_t participant =
      checked("dds_create_participant", dds_create_participant(77, nullptr, nullptr));
  dds_qos_t *qos = dds_create_qos();
  dds_qset_reliability(qos, DDS_RELIABILITY_RELIABLE, DDS_SECS(10));
  dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, 64);
  // As idlc writes it for octets in an array.
  const uint32_t ops[] = {DDS_OP_ADR | DDS_OP_TYPE_ARR | DDS_OP_SUBTYPE_1BY, 0, size, DDS_OP_RTS};
  dds_topic_descriptor_t type = {size, 1, DDS_TOPIC_FIXED_SIZE, 0, "Bare", nullptr, 2, ops, "", {},
                                 {},   0};
  const auto topic = [&](const char *name) {
    return checked("dds_create_topic",
                   dds_create_topic(participant, &type, name, nullptr, nullptr));
  };
  const dds_entity_t there = topic("bare_there"), back = topic("bare_back");
  writer = checked("dds_create_writer",
                   dds_create_writer(participant, pings ? there : back, qos, nullptr));
  reader = checked("dds_create_reader",
                   dds_create_reader(participant, pings ? back : there, qos, nullptr));
  waitset = checked("dds_create_waitset", dds_create_waitset(participant));
  checked("dds_waitset_attach",
          dds_waitset_attach(waitset, dds_create_readcondition(reader, DDS_ANY_STATE), 0));
  // A sample that comes before its writer is known stays where it is.
  dds_publication_matched_status_t readers;
  dds_subscription_matched_status_t writers;
  do {
    dds_sleepfor(DDS_MSECS(10));
    checked("matched", dds_get_publication_matched_status(writer, &readers));
    checked("matched", dds_get_subscription_matched_status(reader, &writers));
  } while (readers.current_count == 0 || writers.current_count == 0);
  dds_sleepfor(DDS_SECS(1));

  if (!pings) {
    while (receive(3000)) send();
  } else {
    const unsigned long number = strtoul(words[3], nullptr, 10);
    std::vector<int64_t> times;
    const auto start = Clock::now();
    for (unsigned long trip = 0; trip < number; ++trip) {
      std::this_thread::sleep_until(start + std::chrono::milliseconds(trip));
      const auto sent = Clock::now();
      send();
      if (!receive(5000)) fail("no answer", DDS_RETCODE_TIMEOUT);
      times.push_back(std::chrono::nanoseconds(Clock::now() - sent).count());
    }
    std::sort(times.begin(), times.end());
    printf("%ld\n", long(times[times.size() / 2]));
  }
  checked("dds_delete", dds_delete(domain));
}
