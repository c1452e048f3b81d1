// The log of a model.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "message.hpp"
#include "model.hpp"
#include "wiregauge/performance_log.hpp"

namespace wiregauge {

inline void open_log(PerformanceLog &log, const std::string &path,
                     std::vector<PerformanceLog::Message> messages) {
  if (path.empty()) return;
  if (!log.open(path, kIdentity.name, {kOsi.major, kOsi.minor, kOsi.patch}, std::move(messages))) {
    throw Failure("log: " + path + " cannot be written");
  }
}

}  // namespace wiregauge
