// The plainest programs there can be over SIL Kit's C functions, declared here as its headers do.
//
//     silkit pong LIBRARY URI WAY SIZE
//     silkit ping LIBRARY URI WAY SIZE NUMBER   prints the median of the round trips in nanoseconds
//     silkit step LIBRARY URI WAY SIZE STEPS SENDERS OWN
//
// `step` is a participant in SIL Kit's virtual time. Number OWN of SENDERS publishes a sample in
// each step of a millisecond; the last, whose number is SENDERS, receives. It prints how many steps
// a second there were, the samples that came, a hash of what came in which step, and one of the
// order.

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

using Clock = std::chrono::steady_clock;

struct Header {
  uint64_t version;
  uint64_t reserved[3];
};
static Header header(uint64_t service, uint64_t kind, uint64_t version) {
  return {uint64_t(83) << 56 | uint64_t(75) << 48 | service << 40 | kind << 32 | version << 24, {}};
}
struct DataSpec {
  Header header;
  const char *topic, *media_type;
  size_t labels;
  void *label_list;
};
struct Bytes {
  const uint8_t *data;
  size_t size;
};
struct Message {
  Header header;
  uint64_t timestamp;
  Bytes data;
};
struct Strings {
  size_t count;
  char **strings;
};
struct Lifecycle {
  Header header;
  int8_t mode;
};
struct Workflow {
  Header header;
  Strings *required;
};

static void *library;

// Calls a function of the library that gives 0 where it went well.
template <typename... Arguments>
static void call(const char *name, Arguments... arguments) {
  auto *function = reinterpret_cast<int32_t (*)(Arguments...)>(dlsym(library, name));
  const int32_t code = function == nullptr ? -1 : function(arguments...);
  if (code == 0) return;
  auto *why = reinterpret_cast<const char *(*)()>(dlsym(library, "SilKit_GetLastErrorString"));
  std::fprintf(stderr, "%s: %d: %s\n", name, code, why == nullptr ? "" : why());
  std::exit(1);
}

using Handler = void (*)(void *, void *, const Message *);

static void *join(const std::string &name, const char *uri, const std::string &way) {
  void *configuration = nullptr, *participant = nullptr;
  const std::string acceptor = way == "local"
                                   ? "local:///tmp/" + name + "." + std::to_string(getpid())
                                   : "tcp://127.0.0.1:0";
  const std::string text = std::string("{\"Logging\": {\"Sinks\": []}, \"Middleware\": ") +
                           "{\"EnableDomainSockets\": " + (way == "local" ? "true" : "false") +
                           ", \"AcceptorUris\": [\"" + acceptor + "\"]}}";
  call("SilKit_ParticipantConfiguration_FromString", &configuration, text.c_str());
  call("SilKit_Participant_Create", &participant, configuration, name.c_str(), uri);
  return participant;
}

static void *publisher(void *participant, const char *topic, uint8_t history) {
  DataSpec spec{header(5, 2, 1), topic, "application/octet-stream", 0, nullptr};
  void *made = nullptr;
  call("SilKit_DataPublisher_Create", &made, participant, topic, &spec, history);
  return made;
}

static void subscribe(void *participant, const char *topic, Handler handler) {
  DataSpec spec{header(5, 2, 1), topic, "application/octet-stream", 0, nullptr};
  void *made = nullptr;
  call("SilKit_DataSubscriber_Create", &made, participant, topic, &spec,
       static_cast<void *>(nullptr), handler);
}

static void publish(void *publisher, const std::vector<uint8_t> &bytes) {
  Bytes data{bytes.data(), bytes.size()};
  call("SilKit_DataPublisher_Publish", publisher, const_cast<const Bytes *>(&data));
}

static std::mutex mutex;
static std::condition_variable changed;
static std::vector<uint8_t> sample;
static void *out;
static bool came, met;
static Clock::time_point last;

static void on_ping(void *, void *, const Message *message) {
  publish(out, std::vector<uint8_t>(message->data.data, message->data.data + message->data.size));
  last = Clock::now();
}
static void on_pong(void *, void *, const Message *) {
  // As the bus does: when the library hands it over, and not when another thread has woken up.
  const auto now = Clock::now();
  std::lock_guard<std::mutex> lock(mutex);
  last = now;
  came = true;
  changed.notify_one();
}
static void on_hello(void *, void *, const Message *) {
  std::lock_guard<std::mutex> lock(mutex);
  met = true;
  changed.notify_one();
}

static void round_trips(bool ping, const char *uri, const std::string &way, int number) {
  void *participant = join(ping ? "ping" : "pong", uri, way);
  out = publisher(participant, ping ? "there" : "back", 0);
  subscribe(participant, ping ? "back" : "there", ping ? on_pong : on_ping);
  void *hello = publisher(participant, ping ? "hello-ping" : "hello-pong", 1);
  publish(hello, {1});
  subscribe(participant, ping ? "hello-pong" : "hello-ping", on_hello);
  std::unique_lock<std::mutex> lock(mutex);
  changed.wait(lock, [] { return met; });
  lock.unlock();
  std::this_thread::sleep_for(std::chrono::milliseconds(300));
  last = Clock::now();
  if (ping) {
    std::vector<double> times;
    const auto start = Clock::now();
    for (int i = 0; i < number; ++i) {
      std::this_thread::sleep_until(start + std::chrono::milliseconds(i));
      const auto sent = Clock::now();
      publish(out, sample);
      lock.lock();
      changed.wait(lock, [] { return came; });
      came = false;
      times.push_back(std::chrono::duration<double, std::nano>(last - sent).count());
      lock.unlock();
    }
    std::sort(times.begin(), times.end());
    std::printf("%.0f\n", times[times.size() / 2]);
  } else {
    while (Clock::now() - last < std::chrono::seconds(2))
      std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  call("SilKit_Participant_Destroy", participant);
}

static uint64_t steps, wanted, samples, all, order = 14695981039346656037u;
static void *lifecycle;
static Clock::time_point first;

static void on_step(void *, void *, uint64_t, uint64_t) {
  if (steps == 0) first = Clock::now();
  if (steps < wanted && out != nullptr) {
    std::memcpy(sample.data(), &steps, sizeof steps);
    publish(out, sample);
  }
  // Two more, so that what was published in the last is there.
  if (++steps == wanted + 3 && out == nullptr)
    call("SilKit_LifecycleService_Stop", lifecycle, "enough");
  if (steps == wanted) last = Clock::now();
}
// Which sender, which of its samples, its time, and in which step of the receiver it came.
static void on_sample(void *, void *, const Message *message) {
  uint64_t hash = 14695981039346656037u;
  const auto add = [](uint64_t &to, uint64_t value) { to = (to ^ value) * 1099511628211u; };
  for (int i = 0; i < 9; ++i) add(hash, message->data.data[i]);
  add(hash, message->timestamp);
  add(hash, steps);
  add(order, hash);
  // Whatever the order.
  all += hash;
  ++samples;
}

static void virtual_time(const char *uri, const std::string &way, int senders, int own) {
  const bool receives = own == senders;
  const auto name = [](int number) { return "participant-" + std::to_string(number); };
  void *participant = join(name(own), uri, way), *time = nullptr;
  Lifecycle coordinated{header(7, 2, 1), 10};
  call("SilKit_LifecycleService_Create", &lifecycle, participant,
       const_cast<const Lifecycle *>(&coordinated));
  call("SilKit_TimeSyncService_Create", &time, lifecycle);
  call("SilKit_TimeSyncService_SetSimulationStepHandler", time, static_cast<void *>(nullptr),
       on_step, uint64_t(1000000));
  if (receives) {
    subscribe(participant, "steps", on_sample);
    std::vector<std::string> names;
    for (int i = 0; i <= senders; ++i) names.push_back(name(i));
    std::vector<char *> pointers;
    for (auto &text : names) pointers.push_back(text.data());
    Strings required{pointers.size(), pointers.data()};
    Workflow workflow{header(7, 3, 3), &required};
    void *controller = nullptr;
    call("SilKit_Experimental_SystemController_Create", &controller, participant);
    call("SilKit_Experimental_SystemController_SetWorkflowConfiguration", controller,
         const_cast<const Workflow *>(&workflow));
  } else {
    sample[8] = uint8_t(own);
    out = publisher(participant, "steps", 0);
  }
  call("SilKit_LifecycleService_StartLifecycle", lifecycle);
  int16_t state = 0;
  call("SilKit_LifecycleService_WaitForLifecycleToComplete", lifecycle, &state);
  if (receives) {
    const double seconds = std::chrono::duration<double>(last - first).count();
    using Number = unsigned long long;
    std::printf("%.0f %llu %016llx %016llx\n", double(wanted - 1) / seconds, Number(samples),
                Number(all), Number(order));
  }
  call("SilKit_Participant_Destroy", participant);
}

int main(int count, char **words) {
  if (count < 6) return 2;
  const std::string what = words[1];
  library = dlopen(words[2], RTLD_NOW);
  if (library == nullptr) {
    std::fprintf(stderr, "%s\n", dlerror());
    return 1;
  }
  sample.resize(size_t(std::atoi(words[5])));
  if (what == "step" && count > 8) {
    wanted = uint64_t(std::atoi(words[6]));
    virtual_time(words[3], words[4], std::atoi(words[7]), std::atoi(words[8]));
  } else {
    round_trips(what == "ping", words[3], words[4], count > 6 ? std::atoi(words[6]) : 0);
  }
}
