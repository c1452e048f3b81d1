// A holder that the build generated, and a packed field: what all projects here compile.
#include <cstdint>
#include <cstdio>
#include <vector>

#include "scan.hpp"
#include "wiregauge/cdr.hpp"
#include "wiregauge/packed.hpp"

namespace {

// Writes a scan as ROS 2 does, and reads it again.
bool carries_a_scan() {
  scan::Scan scan;
  scan.ranges = {1.5F, 2.5F};
  scan.name = "front";
  std::vector<std::uint8_t> bytes;
  if (wiregauge::serialize<wiregauge::CdrWithHeader>(scan, bytes) != wiregauge::Error::none) {
    return false;
  }
  scan::Scan again;
  const auto error =
      wiregauge::deserialize<wiregauge::CdrWithHeader>(bytes.data(), bytes.size(), again);
  std::printf("a scan of %zu ranges in %zu bytes\n", again.ranges.size(), bytes.size());
  return error == wiregauge::Error::none && again == scan;
}

// Writes three reflections of an OSI SensorView as a column, and reads them in place.
bool carries_reflections() {
  using namespace wiregauge::packed;
  Message message(Root::sensor_view);
  Error error = message.add(Kind::lidar_reflections, {{"signal_strength"}}, 3);
  if (!error) error = message.plan();
  std::vector<std::uint8_t> bytes(message.size());
  if (!error) error = message.write(bytes.data(), bytes.size());
  if (error) return false;
  auto strength = message.table(0).column<double>("signal_strength");  // dB
  for (std::size_t row = 0; row < strength.size(); ++row) {
    strength[row] = -3.0 * static_cast<double>(row + 1);
  }
  View view;
  if (first(Root::sensor_view, {bytes.data(), bytes.size()}, Kind::lidar_reflections, view)) {
    return false;
  }
  const auto column = view.column<double>("signal_strength");
  if (!column) return false;
  std::printf("%zu reflections, the second has %g dB\n", view.rows(), column[1]);
  return column[1] == -6.0;
}

}  // namespace

int main() { return carries_a_scan() && carries_reflections() ? 0 : 1; }
