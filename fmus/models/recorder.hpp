// The recorder: SensorViews into a trace, as they come or parsed and written
// anew.
#pragma once

#include <cstdint>
#include <optional>

#include "model.hpp"
#include "models/log.hpp"
#include "trace_file.hpp"

namespace wiregauge {

template <class Encoding>
class Recorder : public Model {
 public:
  static constexpr unsigned kParameters[] = {kTrace, kParse, kFresh, kLog};

  explicit Recorder(const Parameters &parameters) : trace_(parameters.trace) {
    if (parameters.parse) relay_.emplace(parameters.fresh);
    open_log(log_, parameters.log, {{"osi3::SensorView", kInput + kSizeOffset}});
  }

  Output step(double time, Bytes input) override {
    log_.drop_step();
    log_.stamp(PerformanceLog::kStartDeserialize, kIn);
    if (relay_) relay_->parse(input);
    log_.stamp(PerformanceLog::kStopDeserialize, kIn);
    trace_.write(relay_ ? relay_->serialize() : input);
    if (relay_) relay_->drop();
    log_.end_step(time, {input.size});
    return {{}, true, static_cast<std::int32_t>(++recorded_)};
  }

  void flush() override {
    trace_.finish();
    log_.flush();
  }

 private:
  static constexpr std::uint8_t kIn = 0;  // the message in the log

  TraceWriter trace_;
  std::uint32_t recorded_ = 0;
  std::optional<typename Encoding::SensorViewRelay> relay_;
  PerformanceLog log_;
};

}  // namespace wiregauge
