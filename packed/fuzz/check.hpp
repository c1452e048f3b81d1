// What must hold for any bytes, as packed/rust/fuzz/check.rs has it.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "wiregauge/packed_convert.hpp"
#include "wiregauge/packed_reduce.hpp"

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
bool same(const T &a, const T &b) {
  return std::memcmp(static_cast<const void *>(&a), static_cast<const void *>(&b), sizeof(T)) == 0;
}

template <class T>
int typed(const View &view, std::string_view name) {
  const Values values = view.values(name);
  if (values.known && values.element == detail::ElementOf<T>::value) {
    std::vector<T> all(values.rows);
    must(values.read(0, all.data(), all.size()), "a column cannot be read");
    const std::size_t begin = values.rows / 3;
    std::vector<T> some(values.rows / 2 - begin);
    must(values.read(begin, some.data(), some.size()), "a part cannot be read");
    for (std::size_t i = 0; i < some.size(); ++i) {
      must(same(some[i], all[begin + i]), "a part differs from the whole");
    }
  }
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
    // Columns without elements may claim any number of rows; of a reduced one each
    // value restores a block.
    const std::size_t most = values.reduced ? 16 : 4096;
    for (std::size_t row = 0; row < values.rows; row = row < most ? row + 1 : values.rows) {
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

template <class T>
void reduce_as(const std::uint8_t *head, Bytes elements) {
  const auto resolution = detail::load<double>(head + 2);
  Reduction how;
  if ((head[1] & 1) != 0) how.resolution = resolution;
  how.whole_bytes = (head[1] & 2) != 0;
  std::vector<T> values(elements.size / sizeof(T));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = detail::load<T>(elements.data + i * sizeof(T));
  }
  // Any bits will do: there are more of them than rows.
  const std::uint8_t *bitmap = (head[1] & 4) != 0 ? elements.data : nullptr;
  Reduced reduced;
  if (Error error = reduce("a", values.data(), values.size(), bitmap, how, reduced)) {
    must(error.fault == Fault::resolution || error.fault == Fault::steps, "another fault");
    must(how.resolution.has_value(), "a fault without a resolution");
    return;
  }
  Layout layout;
  must(!layout.plan({reduced.column("a")}, values.size(), 0, 8), "a field of one column");
  Buffer field(layout.size());
  must(layout.write(field.data()).put(0, reduced.bytes), "of its size");
  View view;
  must(!View::open(field, view), "what was reduced cannot be read");
  std::vector<T> back(values.size());
  must(view.values("a").read(0, back.data(), back.size()), "a column cannot be read");
  double largest = 0.0;
  for (std::size_t row = 0; row < values.size(); ++row) {
    if (bitmap != nullptr && (bitmap[row / 8] >> row % 8 & 1) == 0) continue;
    if constexpr (std::is_floating_point_v<T>) {
      const double value = static_cast<double>(values[row]);
      if (how.resolution && std::isfinite(value)) {
        const double error = std::fabs(static_cast<double>(back[row]) - value);
        must(error <= resolution / 2.0, "a value is too far away");
        if (error > largest) largest = error;
        continue;
      }
    }
    must(same(values[row], back[row]), "a bit is lost");
  }
  must(reduced.error == largest, "another error is said");
}

// Any bytes as elements, after an element type, flags and a resolution: refused,
// or what is reduced comes back.
inline void reduce_any(Bytes data) {
  if (data.size < 10) return;
  constexpr Element kinds[] = {Element::f64, Element::f32, Element::f16, Element::u64,
                               Element::u32, Element::u16, Element::u8,  Element::i64,
                               Element::i32, Element::i16, Element::i8};
  detail::with_element(kinds[data.data[0] % 11], [&](auto zero) {
    reduce_as<decltype(zero)>(data.data, data.part(10, data.size - 10));
  });
}

}  // namespace check
