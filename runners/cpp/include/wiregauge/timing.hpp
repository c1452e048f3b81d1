// The timed loops: each does one experiment so many times and nothing else.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <string>
#include <vector>

#include "wiregauge/codec.hpp"

namespace wiregauge {

// Makes the compiler believe that the value is read and changed.
template <class T>
inline void keep(T &value) {
  asm volatile("" : : "r"(&value) : "memory");
}

// A loaded message and its encoded bytes.
template <class Message>
struct Sample {
  Message message;
  Buffer wire;
  Wire view() const { return {wire.data(), wire.size()}; }
};

// Whether output buffers and message objects live on from message to message.
struct Reuse {
  bool buffers = false;
  bool objects = false;
};

struct Outcome {
  std::uint64_t ns = 0;
  double sum = 0;
};

template <class Codec>
std::vector<std::string> experiments() {
  std::vector<std::string> names{"encode", "decode", "project", "fixed", "element", "roundtrip"};
  if constexpr (!std::is_same_v<typename Codec::Object, None>)
    names.insert(names.end(),
                 {"encode/populate", "encode/write", "decode/parse", "decode/extract"});
  if constexpr (Codec::verifies) names.push_back("verify");
  return names;
}

template <class Codec>
class Loop {
 public:
  using Message = typename Codec::Message;
  using Object = typename Codec::Object;
  using Samples = std::deque<Sample<Message>>;

  Loop(Codec &codec, const Samples &samples, std::uint64_t iterations, Reuse reuse)
      : codec_(codec), samples_(samples), iterations_(iterations), reuse_(reuse) {
    if (samples.empty()) throw std::runtime_error("no message was given");
    std::size_t largest = 0;
    for (const auto &sample : samples) largest = std::max(largest, sample.wire.size());
    // Touch the pages before the clock runs.
    buffer_.resize(largest + largest / 4 + 64);
    std::memset(buffer_.data(), 1, buffer_.size());
    buffer_.clear();
  }

  Outcome run(const std::string &experiment) {
    if (experiment == "encode") return encode();
    if (experiment == "encode/populate") return populate();
    if (experiment == "encode/write") return write();
    if (experiment == "decode") return decode();
    if (experiment == "decode/parse") return parse();
    if (experiment == "decode/extract") return extract();
    if (experiment == "roundtrip") return roundtrip();
    if (experiment == "project")
      return timed([&](const auto &sample) { return codec_.project(sample.view()); });
    if (experiment == "fixed")
      return timed([&](const auto &sample) { return codec_.fixed(sample.view()); });
    if (experiment == "element")
      return timed([&](const auto &sample) { return codec_.element(sample.view()); });
    if constexpr (Codec::verifies) {
      if (experiment == "verify")
        return timed([&](const auto &sample) {
          codec_.verify(sample.view());
          return 0.0;
        });
    }
    throw std::runtime_error("there is no experiment '" + experiment + "'");
  }

 private:
  static std::uint64_t nanoseconds(std::chrono::steady_clock::duration time) {
    return static_cast<std::uint64_t>(
        std::chrono::duration_cast<std::chrono::nanoseconds>(time).count());
  }

  // Calls `step` with the messages in turn; the results are summed, so that
  // none can be dropped by the optimizer.
  template <class Step>
  Outcome timed(Step step) {
    Outcome outcome;
    std::size_t next = 0;
    const auto start = std::chrono::steady_clock::now();
    for (std::uint64_t i = 0; i < iterations_; ++i) {
      double value = step(samples_[next]);
      keep(value);
      outcome.sum += value;
      if (++next == samples_.size()) next = 0;
    }
    outcome.ns = nanoseconds(std::chrono::steady_clock::now() - start);
    return outcome;
  }

  // Calls `step` with the output buffer that the setting wants.
  template <class Step>
  double with_buffer(Step step) {
    if (reuse_.buffers) {
      buffer_.clear();
      step(buffer_);
      keep(buffer_);
      return static_cast<double>(buffer_.size());
    }
    Buffer fresh;
    step(fresh);
    keep(fresh);
    return static_cast<double>(fresh.size());
  }

  // Calls `step` with the kept value, or with a new one that then goes.
  template <class T, class Step>
  auto with(T &kept, Step step) {
    if (reuse_.objects) return step(kept);
    T fresh{};
    return step(fresh);
  }

  Outcome encode() {
    Object kept{};
    return timed([&](const auto &sample) {
      return with(kept, [&](Object &object) {
        codec_.populate(sample.message, object);
        return with_buffer([&](Buffer &out) { codec_.write(sample.message, object, out); });
      });
    });
  }

  Outcome populate() {
    Object kept{};
    return timed([&](const auto &sample) {
      return with(kept, [&](Object &object) {
        codec_.populate(sample.message, object);
        keep(object);
        return 0.0;
      });
    });
  }

  Outcome write() {
    std::deque<Object> objects;
    for (const auto &sample : samples_) codec_.populate(sample.message, objects.emplace_back());
    std::size_t next = 0;
    return timed([&](const auto &sample) {
      Object &object = objects[next];
      if (++next == objects.size()) next = 0;
      return with_buffer([&](Buffer &out) { codec_.write(sample.message, object, out); });
    });
  }

  Outcome decode() {
    Object kept_object{};
    Message kept_message{};
    return timed([&](const auto &sample) {
      return with(kept_object, [&](Object &object) {
        return with(kept_message, [&](Message &message) {
          codec_.parse(sample.view(), object);
          codec_.extract(sample.view(), object, message);
          keep(message);
          return 0.0;
        });
      });
    });
  }

  Outcome parse() {
    Object kept{};
    return timed([&](const auto &sample) {
      return with(kept, [&](Object &object) {
        codec_.parse(sample.view(), object);
        keep(object);
        return 0.0;
      });
    });
  }

  // Extraction may consume its object, so objects are parsed ahead, as many as
  // keep the clock's own cost small, and only their extraction is timed.
  Outcome extract() {
    constexpr std::size_t kAheadBytes = 1 << 20;
    std::size_t largest = 1;
    for (const auto &sample : samples_) largest = std::max(largest, sample.wire.size());
    const std::uint64_t ahead = std::clamp<std::uint64_t>(kAheadBytes / largest, 1, 256);
    Message kept{};
    Outcome total;
    std::size_t next = 0;
    for (std::uint64_t left = iterations_; left != 0;) {
      const std::uint64_t batch = std::min(left, ahead);
      std::deque<Object> parsed;
      for (std::uint64_t i = 0; i < batch; ++i)
        codec_.parse(samples_[(next + i) % samples_.size()].view(), parsed.emplace_back());
      const auto start = std::chrono::steady_clock::now();
      for (std::uint64_t i = 0; i < batch; ++i) {
        const Wire wire = samples_[next].view();
        if (++next == samples_.size()) next = 0;
        with(kept, [&](Message &message) {
          codec_.extract(wire, parsed[i], message);
          keep(message);
          return 0.0;
        });
      }
      total.ns += nanoseconds(std::chrono::steady_clock::now() - start);
      left -= batch;
    }
    return total;
  }

  Outcome roundtrip() {
    Object kept{};
    Object kept_parsed{};
    Message kept_message{};
    return timed([&](const auto &sample) {
      return with(kept, [&](Object &object) {
        codec_.populate(sample.message, object);
        const double size =
            with_buffer([&](Buffer &out) { codec_.write(sample.message, object, out); });
        // The same bytes as were just written, so that an object that refers
        // to them may live on into the next turn.
        return with(kept_parsed, [&](Object &parsed) {
          return with(kept_message, [&](Message &message) {
            codec_.parse(sample.view(), parsed);
            codec_.extract(sample.view(), parsed, message);
            keep(message);
            return size;
          });
        });
      });
    });
  }

  Codec &codec_;
  const Samples &samples_;
  std::uint64_t iterations_;
  Reuse reuse_;
  Buffer buffer_;
};

}  // namespace wiregauge
