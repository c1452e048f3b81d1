// Writes a scan as ROS 2 does, and reads it again.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "scan.hpp"
#include "wiregauge/cdr.hpp"

int main() {
  scan::Scan scan;
  scan.ranges = {1.5F, 2.5F};
  scan.name = "front";
  const std::vector<std::uint8_t> bytes = wiregauge::serialize<wiregauge::CdrWithHeader>(scan);
  const auto again =
      wiregauge::deserialize<wiregauge::CdrWithHeader, scan::Scan>(bytes.data(), bytes.size());
  std::printf("a scan of %zu ranges in %zu bytes\n", again.ranges.size(), bytes.size());
  return again == scan ? 0 : 1;
}
