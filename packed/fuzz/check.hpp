// What must hold for any bytes, as packed/rust/fuzz/check.rs has it.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "wiregauge/packed_convert.hpp"

namespace check {

using namespace wiregauge::packed;
using Buffer = std::vector<std::uint8_t>;

inline void must(bool holds, const char *what) {
  if (holds) return;
  std::fprintf(stderr, "%s\n", what);
  std::abort();
}

// What is read goes here, so that it is read.
inline volatile double sink;

template <class T>
int typed(const View &view, std::string_view name) {
  const auto column = view.raw_column<T>(name);
  if (!column) return 0;
  must(column.size() == view.rows(), "a column has other rows than its field");
  if (column.size() == 0) return 1;
  if constexpr (std::is_same_v<T, Half>) {
    sink = column[column.size() - 1].value();
  } else {
    sink = static_cast<double>(column[column.size() - 1]);
  }
  return 1;
}

// Any bytes as a field: refused, or all of it can be read.
inline void open(Bytes data) {
  View view;
  if (View::open(data, view)) return;
  for (std::size_t i = 0; i < view.columns(); ++i) {
    const Values values = view.values(i);
    // Columns without elements may claim any number of rows.
    for (std::size_t row = 0; row < values.rows; row = row < 4096 ? row + 1 : values.rows) {
      sink = values.value(row) + (values.present(row) ? 1 : 0);
    }
    if (values.rows != 0) sink = values.value(values.rows - 1) + values.present(values.rows - 1);
    int types = typed<double>(view, values.name) + typed<float>(view, values.name) +
                typed<Half>(view, values.name) + typed<std::uint64_t>(view, values.name) +
                typed<std::uint32_t>(view, values.name) + typed<std::uint16_t>(view, values.name) +
                typed<std::uint8_t>(view, values.name) + typed<std::int64_t>(view, values.name) +
                typed<std::int32_t>(view, values.name) + typed<std::int16_t>(view, values.name) +
                typed<std::int8_t>(view, values.name);
    must(types <= 1, "a column has two types");
  }
}

// What has been packed comes back and packs to the same.
inline void round(Root root, const Buffer &packed) {
  UnpackOptions options;
  options.limit = 1 << 24;
  Buffer plain;
  const Error error = unpack(root, packed, plain, options);
  if (error.fault == Fault::limit) return;
  must(!error, "what was packed cannot be unpacked");
  Buffer again;
  must(!pack(root, plain, again), "what was unpacked cannot be packed");
  must(again == packed, "packed again it is another message");
}

// Any bytes as a message, the first byte choosing which.
inline void convert(Bytes data) {
  if (data.size == 0) return;
  const Root root = (data.data[0] & 1) == 0 ? Root::sensor_view : Root::sensor_data;
  const Bytes message = data.part(1, data.size - 1);
  bool before = false;
  const Error error = find(root, message, [&](const Found &found) {
    before = before || found.packed;
    if (found.packed) open(found.field);
  });
  Buffer packed;
  if (!pack(root, message, packed)) {
    must(!error, "what is packed cannot be searched");
    // Fields that were packed before need not be such that OSI can hold them.
    if (!before) round(root, packed);
  }
  UnpackOptions options;
  options.limit = 1 << 20;
  Buffer plain;
  if (!unpack(root, message, plain, options) && !pack(root, plain, packed)) round(root, packed);
}

}  // namespace check
