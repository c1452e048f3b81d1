// Columns of the packed field as Arrow arrays, by Arrow's C data interface.
//
//   auto message = std::make_shared<const std::vector<std::uint8_t>>(receive());
//   View view;
//   if (Error error = first(…, view)) …
//   ArrowSchema schema;
//   ArrowArray array;
//   to_arrow(view, message, schema, array);  // a consumer imports and releases them
//
// Columns that lie in place are not copied: their arrays hold on to the message until the
// last of them is released. Reduced ones are decoded into the array's own buffer.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "wiregauge/packed.hpp"

// As Arrow has it, so that its own header may be there too.
#ifndef ARROW_C_DATA_INTERFACE
#define ARROW_C_DATA_INTERFACE

#define ARROW_FLAG_DICTIONARY_ORDERED 1
#define ARROW_FLAG_NULLABLE 2
#define ARROW_FLAG_MAP_KEYS_SORTED 4

extern "C" {

struct ArrowSchema {
  const char *format;
  const char *name;
  const char *metadata;
  int64_t flags;
  int64_t n_children;
  struct ArrowSchema **children;
  struct ArrowSchema *dictionary;
  void (*release)(struct ArrowSchema *);
  void *private_data;
};

struct ArrowArray {
  int64_t length;
  int64_t null_count;
  int64_t offset;
  int64_t n_buffers;
  int64_t n_children;
  const void **buffers;
  struct ArrowArray **children;
  struct ArrowArray *dictionary;
  void (*release)(struct ArrowArray *);
  void *private_data;
};

}  // extern "C"

#endif  // ARROW_C_DATA_INTERFACE

namespace wiregauge::packed {
namespace detail {

// What a released structure lets go. Children that a consumer has moved away are marked as
// released there, and live on.
template <class T>
struct ArrowParts {
  std::vector<std::unique_ptr<T>> children{};
  std::vector<T *> pointers{};

  ArrowParts() = default;
  ArrowParts(const ArrowParts &) = delete;
  ArrowParts &operator=(const ArrowParts &) = delete;
  ~ArrowParts() {
    for (const auto &child : children) {
      if (child->release != nullptr) child->release(child.get());
    }
  }

  T *add() {
    children.push_back(std::make_unique<T>());
    pointers.push_back(children.back().get());
    return pointers.back();
  }
};

struct SchemaParts : ArrowParts<ArrowSchema> {
  std::string name{};
};

struct ArrayParts : ArrowParts<ArrowArray> {
  std::shared_ptr<const void> owner{};
  std::unique_ptr<std::uint8_t[]> values{};  // where the elements do not lie in place
  const void *buffers[2] = {nullptr, nullptr};

  // Aligned for any element, as new has it.
  std::uint8_t *room(std::size_t bytes) {
    values.reset(new std::uint8_t[bytes < 16 ? 16 : bytes]);
    return values.get();
  }
};

template <class T, class Parts>
void release_arrow(T *what) {
  delete static_cast<Parts *>(what->private_data);
  what->release = nullptr;
  what->private_data = nullptr;
}

inline const char *arrow_format(const Values &column) {
  if (column.scaled) return "g";
  constexpr const char *formats[] = {"b", "g", "f", "e", "L", "I", "S", "C", "l", "i", "s", "c"};
  return formats[static_cast<std::size_t>(column.element)];
}

inline void fill(ArrowSchema &out, std::unique_ptr<SchemaParts> parts, const char *format,
                 bool nullable) {
  out = ArrowSchema{};
  out.format = format;
  out.name = parts->name.c_str();
  out.flags = nullable ? ARROW_FLAG_NULLABLE : 0;
  out.n_children = static_cast<std::int64_t>(parts->children.size());
  out.children = parts->pointers.empty() ? nullptr : parts->pointers.data();
  out.release = release_arrow<ArrowSchema, SchemaParts>;
  out.private_data = parts.release();
}

inline void fill(ArrowArray &out, std::unique_ptr<ArrayParts> parts, std::size_t rows,
                 std::int64_t buffers) {
  out = ArrowArray{};
  out.length = static_cast<std::int64_t>(rows);
  // How many are null nobody has counted.
  out.null_count = parts->buffers[0] == nullptr ? 0 : -1;
  out.n_buffers = buffers;
  out.buffers = parts->buffers;
  out.n_children = static_cast<std::int64_t>(parts->children.size());
  out.children = parts->pointers.empty() ? nullptr : parts->pointers.data();
  out.release = release_arrow<ArrowArray, ArrayParts>;
  out.private_data = parts.release();
}

// The elements as Arrow wants them: in place where they lie so that their type can be read
// there, else in a buffer of the array's own.
inline const void *arrow_values(const Values &column, ArrayParts &parts) {
  if (column.element == Element::none) {
    const std::size_t size = (column.rows + 7) / 8;
    if (column.bitmap != nullptr) return column.bitmap;
    std::uint8_t *all = parts.room(size);
    std::memset(all, 0xff, size);
    return all;
  }
  const void *out = column.data;
  with_element(column.element, [&](auto zero) {
    using T = decltype(zero);
    const bool aligned = reinterpret_cast<std::uintptr_t>(column.data) % alignof(T) == 0;
    if (!column.reduced && !column.scaled && aligned && column.rows != 0) return;
    if (!column.scaled) {
      auto *values = reinterpret_cast<T *>(parts.room(column.rows * sizeof(T)));
      column.read(0, values, column.rows);
      out = values;
      return;
    }
    auto *values = reinterpret_cast<double *>(parts.room(column.rows * sizeof(double)));
    T block[kBlock];
    for (std::size_t row = 0; row < column.rows; row += kBlock) {
      const std::size_t count = column.rows - row < kBlock ? column.rows - row : kBlock;
      if (!column.read(row, block, count)) return;
      for (std::size_t i = 0; i < count; ++i) {
        const auto *raw = reinterpret_cast<const std::uint8_t *>(block + i);
        values[row + i] = column.offset + column.scale * raw_value(column.element, raw);
      }
    }
    out = values;
  });
  return out;
}

}  // namespace detail

// All columns of a field as an array of structures, which is a record batch to Arrow; columns
// of a later version are left out. Scaled columns are doubles in OSI's unit, columns without
// elements say as booleans which rows have the message.
//
// `owner` keeps the bytes of the view, and is kept until the last array is released. What it
// points to must not change meanwhile. A consumer releases schema and array, each once.
inline void to_arrow(const View &view, std::shared_ptr<const void> owner, ArrowSchema &schema,
                     ArrowArray &array) {
  auto schemas = std::make_unique<detail::SchemaParts>();
  auto arrays = std::make_unique<detail::ArrayParts>();
  for (std::size_t i = 0; i < view.columns(); ++i) {
    const Values column = view.values(i);
    if (!column.known) continue;
    const bool marks = column.element == Element::none;
    auto described = std::make_unique<detail::SchemaParts>();
    described->name = std::string(column.name);
    const bool nullable = column.bitmap != nullptr && !marks;
    detail::fill(*schemas->add(), std::move(described), detail::arrow_format(column), nullable);
    auto parts = std::make_unique<detail::ArrayParts>();
    parts->owner = owner;
    parts->buffers[0] = nullable ? column.bitmap : nullptr;
    parts->buffers[1] = detail::arrow_values(column, *parts);
    detail::fill(*arrays->add(), std::move(parts), view.rows(), 2);
  }
  detail::fill(schema, std::move(schemas), "+s", false);
  detail::fill(array, std::move(arrays), view.rows(), 1);
}

}  // namespace wiregauge::packed
