// Any bytes as elements to reduce and restore.
#include "check.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size);

int LLVMFuzzerTestOneInput(const std::uint8_t *data, std::size_t size) {
  check::reduce_any(wiregauge::packed::Bytes(data, size));
  return 0;
}
