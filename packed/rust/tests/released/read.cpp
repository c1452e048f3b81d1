// The reader of version 1.0 as it was released, over a field of its successor.
#include <cstdio>
#include <fstream>
#include <iterator>

#include "packed-1.0.hpp"

using namespace wiregauge::packed;

int main(int count, char **arguments) {
  if (count != 2) return 2;
  std::ifstream file(arguments[1], std::ios::binary);
  const std::vector<char> bytes(std::istreambuf_iterator<char>(file), {});
  View view;
  if (Error error = View::open(Bytes(bytes.data(), bytes.size()), view)) {
    std::printf("%s\n", error.message().c_str());
    return 0;
  }
  for (std::size_t i = 0; i < view.columns(); ++i) {
    const Values values = view.values(i);
    std::printf("%s %s", std::string(values.name).c_str(), values.known ? "read" : "skipped");
    double sum = 0.0;
    for (std::size_t row = 0; row < view.rows(); ++row) {
      if (values.known && values.present(row)) sum += values.value(row);
    }
    std::printf(" %.17g\n", sum);
  }
  return 0;
}
