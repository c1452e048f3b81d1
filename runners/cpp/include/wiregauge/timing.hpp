// The timed loops: each does one experiment so many times and nothing else.
#pragma once

#include <algorithm>
#include <chrono>
#include <deque>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include "wiregauge/canonical.hpp"
#include "wiregauge/codec.hpp"
#include "wiregauge/tally.hpp"

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

// What lives on from message to message.
struct Reuse {
  bool scratch = true;
  bool objects = true;
  bool buffers = true;
};

// What an experiment made of one message.
struct Proof {
  std::optional<Buffer> encoded;
  // A decoded message in its canonical form.
  std::optional<Buffer> decoded;
  std::optional<Digest> digest;
};

struct Outcome {
  std::uint64_t ns = 0;
  double sum = 0;
  // What one more iteration made, where that was asked for.
  Proof proof;
};

template <class Codec>
std::vector<std::string> experiments() {
  std::vector<std::string> names{"encode", "decode", "project", "fixed", "element", "roundtrip"};
  if constexpr (!std::is_same_v<typename Codec::Object, None>)
    names.insert(names.end(),
                 {"encode/populate", "encode/write", "decode/parse", "decode/extract"});
  if constexpr (Codec::has_clients) names.push_back("client");
  if constexpr (Codec::verifies) {
    names.push_back("verify");
    if constexpr (Codec::unchecked)
      names.insert(names.end(), {"decode/checked", "project/checked"});
  }
  return names;
}

// The codec, made anew where scratch is fresh.
template <class Codec>
using Scratch = std::optional<Codec>;

// One run of an experiment: so many messages, taking turns over the samples.
// With `prove` it is done once more on that message, untimed, by the same code
// on what the loop left behind.
template <class Codec>
class Loop {
 public:
  using Message = typename Codec::Message;
  using Object = typename Codec::Object;
  using Sample = wiregauge::Sample<Message>;
  using Samples = std::deque<Sample>;

  Loop(Scratch<Codec> &codec, const Samples &samples, std::uint64_t iterations, Reuse reuse,
       std::optional<std::size_t> prove)
      : codec_(codec), samples_(samples), iterations_(iterations), reuse_(reuse) {
    if (samples.empty()) throw std::runtime_error("no message was given");
    if (prove) {
      if (*prove >= samples.size())
        throw std::runtime_error("there is no message " + std::to_string(*prove));
      prove_ = &samples[*prove];
    }
    std::size_t largest = 0;
    for (const auto &sample : samples) largest = std::max(largest, sample.wire.size());
    // Touch the pages before the clock runs.
    buffer_.resize(largest + largest / 4 + 64);
    std::memset(buffer_.data(), 1, buffer_.size());
    buffer_.clear();
    object_.emplace();
    parsed_.emplace();
    message_.emplace();
    built_.emplace();
  }

  // What was lent is there for the next run.
  ~Loop() {
    codec_->recycle(*object_);
    codec_->recycle(*parsed_);
  }

  [[gnu::hot]] Outcome run(const std::string &experiment) {
    if (experiment == "encode")
      return run([this](const Sample &sample) { return encode(sample); }, &Loop::encoded);
    if (experiment == "encode/populate")
      return run([this](const Sample &sample) { return populate(sample); }, &Loop::nothing);
    if (experiment == "encode/write") return write();
    if (experiment == "decode")
      return run([this](const Sample &sample) { return decode(sample); }, &Loop::decoded);
    if (experiment == "decode/parse")
      return run([this](const Sample &sample) { return parse(sample); }, &Loop::nothing);
    if (experiment == "decode/extract") return extract();
    if (experiment == "roundtrip")
      return run([this](const Sample &sample) { return roundtrip(sample); }, &Loop::both);
    if (experiment == "project")
      return read([](Codec &codec, Wire wire, Object &object, Message &message, auto &tally) {
        codec.project(wire, object, message, tally);
      });
    if (experiment == "fixed")
      return read([](Codec &codec, Wire wire, Object &object, Message &message, auto &tally) {
        codec.fixed(wire, object, message, tally);
      });
    if (experiment == "element")
      return read([](Codec &codec, Wire wire, Object &object, Message &message, auto &tally) {
        codec.element(wire, object, message, tally);
      });
    if constexpr (Codec::has_clients) {
      if (experiment == "client") return client();
    }
    if constexpr (Codec::verifies) {
      if (experiment == "verify")
        return run(
            [this](const Sample &sample) {
              codec_->verify(sample.view());
              return 0.0;
            },
            &Loop::nothing);
      if (experiment == "decode/checked")
        return run(
            [this](const Sample &sample) {
              codec_->verify(sample.view());
              return decode(sample);
            },
            &Loop::decoded);
      if (experiment == "project/checked")
        return read([](Codec &codec, Wire wire, Object &object, Message &message, auto &tally) {
          codec.verify(wire);
          codec.project(wire, object, message, tally);
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
  [[gnu::hot]] Outcome timed(Step step) {
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

  // The loop of all experiments but those whose input has to be prepared.
  template <class Step>
  Outcome run(Step step, Proof (Loop::*proof)() const) {
    Outcome outcome = timed(step);
    if (prove_ != nullptr) {
      step(*prove_);
      outcome.proof = (this->*proof)();
    }
    return outcome;
  }

  void fresh_scratch() {
    if (!reuse_.scratch) codec_.emplace();
  }

  void fresh(std::optional<Object> &object) {
    if (reuse_.objects) return;
    codec_->recycle(*object);
    object.emplace();
  }

  void fresh_message() {
    if (!reuse_.objects) message_.emplace();
  }

  void fresh_buffer() {
    if (!reuse_.buffers) {
      codec_->forget_output(*object_);
      forget_written();
    }
    buffer_.clear();
  }

  void forget_written() {
    buffer_.release();
    codec_->forget_written();
  }

  double encode(const Sample &sample) {
    fresh(object_);
    fresh_scratch();
    fresh_buffer();
    codec_->populate(sample.message, *object_);
    codec_->write(sample.message, *object_, buffer_);
    keep(buffer_);
    return static_cast<double>(buffer_.size());
  }

  double populate(const Sample &sample) {
    fresh(object_);
    fresh_scratch();
    if (!reuse_.buffers) codec_->forget_output(*object_);
    codec_->populate(sample.message, *object_);
    keep(*object_);
    return 0.0;
  }

  double decode(const Sample &sample) {
    fresh(object_);
    fresh_message();
    fresh_scratch();
    codec_->parse(sample.view(), *object_);
    codec_->extract(sample.view(), *object_, *message_);
    keep(*message_);
    return 0.0;
  }

  double parse(const Sample &sample) {
    fresh(object_);
    fresh_scratch();
    codec_->parse(sample.view(), *object_);
    keep(*object_);
    return 0.0;
  }

  double roundtrip(const Sample &sample) {
    fresh(parsed_);
    fresh_message();
    const double size = encode(sample);
    // The same bytes as were just written, so that an object that refers to
    // them may live on into the next turn.
    codec_->parse(sample.view(), *parsed_);
    codec_->extract(sample.view(), *parsed_, *message_);
    keep(*message_);
    return size;
  }

  // Builds the library's object, which is the normalized form where there is no
  // other, and reads what was parsed.
  template <class Tally>
  Tally client(const Sample &sample, Tally tally) {
    fresh(parsed_);
    fresh_message();
    if constexpr (std::is_same_v<Object, None>) {
      if (!reuse_.objects) built_.emplace();
      fresh_scratch();
      fresh_buffer();
      *built_ = sample.message;
      codec_->write(*built_, *object_, buffer_);
      keep(buffer_);
    } else {
      encode(sample);
    }
    codec_->project(sample.view(), *parsed_, *message_, tally);
    return tally;
  }

  Outcome client() {
    Outcome outcome = timed([&](const Sample &sample) { return client(sample, Sum{}).value; });
    if (prove_ != nullptr) {
      outcome.proof.digest = client(*prove_, Digest{});
      outcome.proof.encoded = buffer_.copy();
    }
    return outcome;
  }

  Proof nothing() const { return {}; }

  Proof encoded() const {
    Proof proof;
    proof.encoded = buffer_.copy();
    return proof;
  }

  Proof decoded() const {
    Proof proof;
    Writer writer(proof.decoded.emplace());
    message_->to_canonical(writer);
    return proof;
  }

  Proof both() const {
    Proof proof = decoded();
    proof.encoded = buffer_.copy();
    return proof;
  }

  template <class Reading>
  Outcome read(Reading reading) {
    const auto tallied = [&](const Sample &sample, auto tally) {
      if constexpr (!Codec::in_place) {
        fresh(object_);
        fresh_message();
      }
      fresh_scratch();
      reading(*codec_, sample.view(), *object_, *message_, tally);
      return tally;
    };
    Outcome outcome = timed([&](const Sample &sample) { return tallied(sample, Sum{}).value; });
    if (prove_ != nullptr) outcome.proof.digest = tallied(*prove_, Digest{});
    return outcome;
  }

  // Objects are populated ahead, one for each message.
  Outcome write() {
    std::deque<Object> objects;
    for (const auto &sample : samples_) codec_->populate(sample.message, objects.emplace_back());
    const auto step = [&](const Sample &sample, Object &object) {
      if (!reuse_.buffers) forget_written();
      buffer_.clear();
      codec_->write(sample.message, object, buffer_);
      keep(buffer_);
      return static_cast<double>(buffer_.size());
    };
    std::size_t next = 0;
    Outcome outcome = timed([&](const Sample &sample) {
      Object &object = objects[next];
      if (++next == objects.size()) next = 0;
      return step(sample, object);
    });
    if (prove_ != nullptr) {
      codec_->populate(prove_->message, *object_);
      step(*prove_, *object_);
      outcome.proof = encoded();
    }
    for (Object &object : objects) codec_->recycle(object);
    return outcome;
  }

  // Extraction may consume its object, so objects are parsed ahead, as many as
  // keep the clock's own cost small, and only their extraction is timed.
  Outcome extract() {
    constexpr std::size_t kAheadBytes = 1 << 20;
    std::size_t largest = 1;
    for (const auto &sample : samples_) largest = std::max(largest, sample.wire.size());
    const std::uint64_t ahead = std::clamp<std::uint64_t>(kAheadBytes / largest, 1, 256);
    Outcome total;
    std::size_t next = 0;
    for (std::uint64_t left = iterations_; left != 0;) {
      const std::uint64_t batch = std::min(left, ahead);
      std::deque<Object> parsed;
      for (std::uint64_t i = 0; i < batch; ++i)
        codec_->parse(samples_[(next + i) % samples_.size()].view(), parsed.emplace_back());
      const auto start = std::chrono::steady_clock::now();
      for (std::uint64_t i = 0; i < batch; ++i) {
        const Wire wire = samples_[next].view();
        if (++next == samples_.size()) next = 0;
        fresh_message();
        codec_->extract(wire, parsed[i], *message_);
        keep(*message_);
      }
      total.ns += nanoseconds(std::chrono::steady_clock::now() - start);
      for (Object &object : parsed) codec_->recycle(object);
      left -= batch;
    }
    if (prove_ != nullptr) {
      decode(*prove_);
      total.proof = decoded();
    }
    return total;
  }

  Scratch<Codec> &codec_;
  const Samples &samples_;
  std::uint64_t iterations_;
  Reuse reuse_;
  const Sample *prove_ = nullptr;
  Buffer buffer_;
  std::optional<Object> object_;
  // The object of decoding, where both directions take part.
  std::optional<Object> parsed_;
  std::optional<Message> message_;
  // The normalized form as a client builds it, where the library has no other.
  std::optional<Message> built_;
};

}  // namespace wiregauge
