// The player: the SensorViews of a trace, by their times or one a step, as they
// lie in the file or parsed and written anew.
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "message.hpp"
#include "model.hpp"
#include "models/log.hpp"
#include "trace_file.hpp"

namespace wiregauge {

template <class Encoding>
class Player : public Model {
 public:
  static constexpr unsigned kParameters[] = {kTrace, kPace, kAtEnd, kParse, kFresh, kLog};

  explicit Player(const Parameters &parameters)
      : trace_(parameters.trace), at_end_(at_end(parameters.at_end)), fresh_(parameters.fresh) {
    if (parameters.parse) relay_.emplace(parameters.fresh);
    if (parameters.pace == "time") {
      find_times();
    } else if (parameters.pace != "step") {
      throw Failure("pace is \"" + parameters.pace + "\"; there are time and step");
    }
    open_log(log_, parameters.log, {{"osi3::SensorView", kOutput + kSizeOffset}});
  }

  Output step(double time, Bytes) override {
    buffers_.turn();
    log_.drop_step();
    log_.stamp(PerformanceLog::kStartCalculation, kOut);
    const std::optional<std::size_t> due = times_.empty() ? next() : due_at(time);
    if (!due) return Output::end_of_simulation();
    if (fresh_) buffers_.current().release();
    Output output{trace_.read(*due, buffers_.current()), true, 0};
    if (relay_) relay_->parse(output.message);

    log_.stamp(PerformanceLog::kStartSerialize, kOut);
    if (relay_) output.message = relay_->serialize();
    log_.stamp(PerformanceLog::kStopSerialize, kOut);

    if (relay_) relay_->drop();
    log_.end_step(time, {output.message.size});
    output.count = static_cast<std::int32_t>(++played_);
    return output;
  }

  void flush() override { log_.flush(); }

 private:
  static constexpr std::uint8_t kOut = 0;  // the message in the log

  enum class AtEnd { kEnd, kHold, kLoop };

  static AtEnd at_end(const std::string &name) {
    if (name == "end") return AtEnd::kEnd;
    if (name == "hold") return AtEnd::kHold;
    if (name == "loop") return AtEnd::kLoop;
    throw Failure("at_end is \"" + name + "\"; there are end, hold and loop");
  }

  // When each message comes after the first one, in nanoseconds.
  void find_times() {
    Buffer buffer;
    std::int64_t first = 0;
    for (std::size_t i = 0; i < trace_.messages(); ++i) {
      // It stands near the beginning, and messages are large.
      std::optional<Timestamp> stamp = Encoding::timestamp(trace_.front(i, kFront, buffer));
      if (!stamp) stamp = Encoding::timestamp(trace_.read(i, buffer));
      if (!stamp) {
        throw Failure("trace: " + trace_.path() + ": message " + std::to_string(i) +
                      " has no time; pace=step plays them as they come");
      }
      const std::int64_t time = stamp->seconds * kSecond + stamp->nanos;
      if (i == 0) first = time;
      if (i > 0 && time - first < times_.back()) {
        throw Failure("trace: " + trace_.path() + ": the time of message " + std::to_string(i) +
                      " is before that of the one before it; pace=step plays them as they come");
      }
      times_.push_back(time - first);
    }
    // A trace that is played again begins one period after its last message.
    const std::size_t count = times_.size();
    round_ = count < 2 ? 0 : times_.back() + times_.back() / static_cast<std::int64_t>(count - 1);
  }

  // The next message; none at the end.
  std::optional<std::size_t> next() {
    if (next_ < trace_.messages()) return next_++;
    switch (at_end_) {
      case AtEnd::kEnd:
        return std::nullopt;
      case AtEnd::kHold:
        return trace_.messages() - 1;
      case AtEnd::kLoop:
        next_ = 1;
        return 0;
    }
    return std::nullopt;
  }

  // The last message that is due: the first one at the first step.
  std::optional<std::size_t> due_at(double time) {
    const auto now = static_cast<std::int64_t>(std::llround(time * 1e9));
    if (!began_) began_ = now;
    std::int64_t since = now - *began_;
    if (since > times_.back()) {
      // What comes after the last message's time, by less than a period, is still its.
      if (at_end_ == AtEnd::kEnd && since >= round_) return std::nullopt;
      if (at_end_ == AtEnd::kLoop) since = round_ > 0 ? since % round_ : 0;
    }
    std::size_t low = 0;
    for (std::size_t high = times_.size(); high - low > 1;) {
      const std::size_t middle = low + (high - low) / 2;
      (times_[middle] <= since ? low : high) = middle;
    }
    return low;
  }

  static constexpr std::int64_t kSecond = 1000000000;
  static constexpr std::size_t kFront = 4096;

  TraceReader trace_;
  AtEnd at_end_;
  bool fresh_;
  std::vector<std::int64_t> times_;
  std::int64_t round_ = 0;
  std::optional<std::int64_t> began_;
  std::size_t next_ = 0;
  std::uint32_t played_ = 0;
  Double<Buffer> buffers_;
  std::optional<typename Encoding::SensorViewRelay> relay_;
  PerformanceLog log_;
};

}  // namespace wiregauge
