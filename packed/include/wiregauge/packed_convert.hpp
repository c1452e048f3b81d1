// Between OSI's reflections and detections as sub-messages and as a packed field
// (docs/packed.md), on the wire level: pack() and unpack().
//
// Long because: users copy it into their projects as one file.
#pragma once

#include <iterator>

#include "wiregauge/packed.hpp"
#include "wiregauge/packed_preset.hpp"
#include "wiregauge/packed_reduce.hpp"

namespace wiregauge::packed {

// How a column is packed.
struct Encoding {
  std::string name;  // of the column
  Element element = Element::f64;
  bool scaled = false;
  double offset = 0.0;
  double scale = 0.0;
  std::optional<Reduction> reduction{};  // a resolution goes with f64
};

struct PackOptions {
  std::vector<Encoding> encodings;  // all other columns are lossless, or as presets have them
  std::size_t alignment = 64;       // bytes
  // How columns are reduced that no encoding names: by the last one that tells of
  // their rows, as preset("lidar-1mm"). Null is refused.
  std::vector<const Preset *> presets{};
  // Whether presets reduce to whole bytes, for what is compressed afterwards.
  bool whole_bytes = false;
};

struct UnpackOptions {
  bool drop_unknown = false;         // leave out columns that OSI has no field for
  std::size_t limit = kMaximumSize;  // bytes of the result
};

// What a conversion has cost a column, in the column's unit.
struct Precision {
  Kind kind = Kind::lidar_reflections;
  std::string name;
  Element element = Element::f64;
  double error = 0.0;     // the largest |packed - given|
  std::size_t bytes = 0;  // of its elements and its presence
};

namespace detail {

enum class Type : std::uint8_t { number, identifier, enumeration };

// A field of OSI that has a column: of the row, or of a message in the row.
struct Leaf {
  const char *name;
  std::uint8_t number;
  std::uint8_t inner;  // 0 for the row's own
  Type type;
};

struct Leaves {
  const Leaf *data;
  std::size_t size;
  const char *row;

  const Leaf *begin() const { return data; }
  const Leaf *end() const { return data + size; }
};

constexpr std::size_t kMostLeaves = 17;
constexpr std::size_t kMostNumbers = 14;

inline Leaves leaves(Kind kind) {
  static constexpr Leaf lidar_reflection[] = {
      {"signal_strength", 1, 0, Type::number},     {"time_of_flight", 2, 0, Type::number},
      {"doppler_shift", 3, 0, Type::number},       {"normal_to_surface.x", 5, 1, Type::number},
      {"normal_to_surface.y", 5, 2, Type::number}, {"normal_to_surface.z", 5, 3, Type::number},
      {"object_id", 6, 1, Type::identifier},
  };
  static constexpr Leaf radar_reflection[] = {
      {"signal_strength", 1, 0, Type::number},
      {"time_of_flight", 2, 0, Type::number},
      {"doppler_shift", 3, 0, Type::number},
      {"source_horizontal_angle", 4, 0, Type::number},
      {"source_vertical_angle", 5, 0, Type::number},
  };
  static constexpr Leaf lidar_detection[] = {
      {"existence_probability", 1, 0, Type::number},
      {"object_id", 2, 1, Type::identifier},
      {"position.distance", 3, 1, Type::number},
      {"position.azimuth", 3, 2, Type::number},
      {"position.elevation", 3, 3, Type::number},
      {"position_rmse.distance", 4, 1, Type::number},
      {"position_rmse.azimuth", 4, 2, Type::number},
      {"position_rmse.elevation", 4, 3, Type::number},
      {"height", 5, 0, Type::number},
      {"height_rmse", 6, 0, Type::number},
      {"intensity", 7, 0, Type::number},
      {"free_space_probability", 8, 0, Type::number},
      {"classification", 9, 0, Type::enumeration},
      {"reflectivity", 10, 0, Type::number},
      {"echo_pulse_width", 11, 0, Type::number},
      {"radial_velocity", 12, 0, Type::number},
      {"beam_id", 13, 1, Type::identifier},
  };
  static constexpr Leaf radar_detection[] = {
      {"existence_probability", 1, 0, Type::number},
      {"object_id", 2, 1, Type::identifier},
      {"position.distance", 3, 1, Type::number},
      {"position.azimuth", 3, 2, Type::number},
      {"position.elevation", 3, 3, Type::number},
      {"position_rmse.distance", 4, 1, Type::number},
      {"position_rmse.azimuth", 4, 2, Type::number},
      {"position_rmse.elevation", 4, 3, Type::number},
      {"radial_velocity", 5, 0, Type::number},
      {"radial_velocity_rmse", 6, 0, Type::number},
      {"rcs", 7, 0, Type::number},
      {"snr", 8, 0, Type::number},
      {"point_target_probability", 9, 0, Type::number},
      {"ambiguity_id", 10, 1, Type::identifier},
      {"classification", 11, 0, Type::enumeration},
  };
  switch (kind) {
    case Kind::lidar_reflections:
      return {lidar_reflection, std::size(lidar_reflection), "reflection"};
    case Kind::radar_reflections:
      return {radar_reflection, std::size(radar_reflection), "reflection"};
    case Kind::lidar_detections:
      return {lidar_detection, std::size(lidar_detection), "detection"};
    default:
      return {radar_detection, std::size(radar_detection), "detection"};
  }
}

// The name of a leaf's message in the row.
inline std::string_view parent(const Leaf &leaf) {
  const std::string_view name = leaf.name;
  return name.substr(0, name.find('.'));
}

// The name of the column that says whether that message is there.
inline std::string marker(const Leaf &leaf) { return std::string(parent(leaf)) + '?'; }

// A row's values: the bits of doubles, identifiers, and enumerations with sign.
struct Row {
  std::uint32_t has = 0;       // bit i: leaf i
  std::uint32_t messages = 0;  // bit n: the row's message number n
  std::array<std::uint64_t, kMostLeaves> values{};
};

inline Error take_value(const Leaves &all, std::size_t index, const Field &field, Row &row) {
  const Leaf &leaf = all.data[index];
  if (field.type != (leaf.type == Type::number ? 1u : 0u)) {
    return fault(Fault::unknown, field.number, leaf.inner == 0 ? all.row : parent(leaf));
  }
  if (leaf.type == Type::enumeration) {
    const auto value = static_cast<std::int64_t>(field.value);
    if (value < INT32_MIN || value > INT32_MAX) {
      return fault(Fault::value, field.number, leaf.name);
    }
  }
  row.has |= 1u << index;
  row.values[index] = field.value;
  return {};
}

inline Error take_row(const Leaves &all, Bytes bytes, Row &row) {
  row.has = 0;
  row.messages = 0;
  Fields fields(bytes);
  Field field;
  while (fields.next(field)) {
    std::size_t index = 0;
    while (index < all.size && all.data[index].number != field.number) ++index;
    if (index == all.size) return fault(Fault::unknown, field.number, all.row);
    if (all.data[index].inner == 0) {
      if (Error error = take_value(all, index, field, row)) return error;
      continue;
    }
    if (field.type != 2) return fault(Fault::unknown, field.number, all.row);
    row.messages |= 1u << field.number;
    Fields inner(field.content);
    Field value;
    while (inner.next(value)) {
      const std::size_t leaf = index + value.number - 1;
      if (leaf >= all.size || all.data[leaf].number != field.number) {
        return fault(Fault::unknown, value.number, parent(all.data[index]));
      }
      if (Error error = take_value(all, leaf, value, row)) return error;
    }
    if (Error error = inner.error()) return error;
  }
  return fields.error();
}

// Calls each(Row) for the rows of a message.
template <class Each>
Error for_rows(const Leaves &all, Bytes message, Each &&each) {
  Fields fields(message);
  Field field;
  Row row;
  while (fields.next(field)) {
    if (field.number != kRows || field.type != 2) continue;
    if (Error error = take_row(all, field.content, row)) return error;
    if (Error error = each(static_cast<const Row &>(row))) return error;
  }
  return fields.error();
}

// Where a column's values come from: a leaf, or with `message` its message.
struct Source {
  std::size_t leaf;
  bool message;
  bool optional;
  Element element;
  bool scaled;
  double offset;
  double scale;
  std::string name;
  std::optional<Reduction> reduction{};
  Reduced reduced{};
  double error = 0.0;  // the largest so far
};

// One table to be packed.
struct PackTask {
  Kind kind;
  Bytes message;
  std::vector<Source> sources;
};

// Stores one value as its column has it; adds to the error.
inline Error store_leaf(const Leaf &leaf, const Source &source, std::uint64_t bits,
                        std::uint8_t *at, double &error) {
  if (leaf.type == Type::number) {
    if (source.element == Element::f64) {
      store(at, bits);
      return {};
    }
    const auto value = load<double>(reinterpret_cast<const std::uint8_t *>(&bits));
    if (!store_value(source.element, source.scaled, source.offset, source.scale, value, at)) {
      return fault(Fault::value, leaf.number, leaf.name);
    }
    const double raw = raw_value(source.element, at);
    const double back = source.scaled ? source.offset + source.scale * raw : raw;
    const double off = std::fabs(back - value);
    if (off > error) error = off;
    return {};
  }
  const bool negative = leaf.type == Type::enumeration && static_cast<std::int64_t>(bits) < 0;
  const bool is_signed = source.element >= Element::i64;
  const std::size_t size = size_of(source.element);
  const std::size_t width = 8 * size - (is_signed ? 1 : 0);
  const std::uint64_t size_bits = negative ? ~bits : bits;
  if ((negative && !is_signed) || (width < 64 && size_bits >> width != 0)) {
    return fault(Fault::value, leaf.number, leaf.name);
  }
  std::memcpy(at, &bits, size);
  return {};
}

class Packer {
 public:
  explicit Packer(const PackOptions &options) : options_(options) {}

  // The parts of a message; false in `changed` where it stays as it is.
  Error split(Level level, Bytes bytes, std::vector<Part> &parts, bool &changed) {
    return is_kind(level) ? split_rows(static_cast<Kind>(level), bytes, parts, changed)
                          : split_fields(level, bytes, parts, changed);
  }

  Error finish(std::vector<Part> &parts, std::vector<std::uint8_t> &out,
               std::vector<Precision> *precision) {
    const std::uint64_t size = settle(parts, layouts_);
    if (size > kMaximumSize) return fault(Fault::limit);
    out.assign(static_cast<std::size_t>(size), 0);
    std::vector<Table> tables(layouts_.size());
    write(parts, layouts_, tables, out.data());
    for (std::size_t i = 0; i < tasks_.size(); ++i) {
      if (Error error = fill(tasks_[i], tables[i], precision)) return error;
    }
    return {};
  }

 private:
  Error split_fields(Level level, Bytes bytes, std::vector<Part> &parts, bool &changed) {
    Fields fields(bytes);
    Field field;
    std::size_t kept = 0;
    while (fields.next(field)) {
      const Level inner = descend(level, field.number);
      if (field.type != 2 || inner == Level::other) continue;
      Part part;
      part.number = field.number;
      bool inside = false;
      if (Error error = split(inner, field.content, part.parts, inside)) return error;
      if (!inside) continue;
      keep(bytes, kept, field.begin, parts);
      parts.push_back(std::move(part));
      kept = field.end;
      changed = true;
    }
    keep(bytes, kept, bytes.size, parts);
    return fields.error();
  }

  Error split_rows(Kind kind, Bytes bytes, std::vector<Part> &parts, bool &changed) {
    Fields fields(bytes);
    Field field;
    std::size_t kept = 0;
    std::size_t place = 0;
    bool packed = false;
    while (fields.next(field)) {
      if (field.type == 2 && field.number == kField) packed = true;
      if (field.type != 2 || field.number != kRows) continue;
      keep(bytes, kept, field.begin, parts);
      kept = field.end;
      if (!changed) place = parts.size();
      changed = true;
    }
    if (Error error = fields.error()) return error;
    keep(bytes, kept, bytes.size, parts);
    if (!changed) return {};
    if (packed) return fault(Fault::both);
    PackTask task{kind, bytes, {}};
    std::uint64_t rows = 0;
    if (Error error = choose(task, rows)) return error;
    if (Error error = reduce_all(task, static_cast<std::size_t>(rows))) return error;
    std::vector<Column> columns;
    for (const Source &source : task.sources) {
      Column column{source.name,   source.element, source.optional,
                    source.scaled, source.offset,  source.scale};
      if (source.reduction) {
        column.reduced = true;
        column.resolution = source.reduced.resolution;
        column.size = source.reduced.bytes.size();
      }
      columns.push_back(column);
    }
    Layout layout;
    if (Error error = layout.plan(columns, rows, 0, options_.alignment)) return error;
    Part table;
    table.number = kField;
    table.layout = layouts_.size();
    parts.insert(parts.begin() + static_cast<std::ptrdiff_t>(place), table);
    layouts_.push_back(std::move(layout));
    tasks_.push_back(std::move(task));
    return {};
  }

  static void keep(Bytes bytes, std::size_t begin, std::size_t end, std::vector<Part> &parts) {
    if (begin == end) return;
    Part part;
    part.bytes = bytes.part(begin, end - begin);
    parts.push_back(part);
  }

  // Which columns the rows need.
  Error choose(PackTask &task, std::uint64_t &rows) const {
    const Leaves all = leaves(task.kind);
    std::uint32_t any = 0;
    std::uint32_t every = ~0u;
    std::uint32_t every_message = ~0u;
    std::uint32_t hollow = 0;  // messages that are somewhere without a value
    const Error error = for_rows(all, task.message, [&](const Row &row) {
      ++rows;
      any |= row.has;
      every &= row.has;
      every_message &= row.messages;
      std::uint32_t filled = 0;
      for (std::size_t i = 0; i < all.size; ++i) {
        if ((row.has >> i & 1) != 0) filled |= 1u << all.data[i].number;
      }
      hollow |= row.messages & ~filled;
      return Error{};
    });
    if (error) return error;
    for (std::size_t i = 0; i < all.size; ++i) {
      const Leaf &leaf = all.data[i];
      if (leaf.inner == 1 && (hollow >> leaf.number & 1) != 0) {
        const bool optional = (every_message >> leaf.number & 1) == 0;
        Source source{i, true, optional, Element::none, false, 0.0, 0.0, marker(leaf)};
        task.sources.push_back(std::move(source));
      }
      if ((any >> i & 1) == 0) continue;
      Source source{i, false, (every >> i & 1) == 0, Element::f64, false, 0.0, 0.0, leaf.name};
      if (leaf.type == Type::identifier) source.element = Element::u64;
      if (leaf.type == Type::enumeration) source.element = Element::i32;
      source.reduction = by_presets(task.kind, leaf.name, source.element);
      for (const Encoding &encoding : options_.encodings) {
        if (encoding.name != leaf.name) continue;
        const bool whole = is_integer(encoding.element) && !encoding.scaled;
        const bool rounded = encoding.reduction && encoding.reduction->resolution;
        if (encoding.element == Element::none || (leaf.type != Type::number && !whole) ||
            (rounded && encoding.element != Element::f64)) {
          return fault(Fault::element, leaf.number, leaf.name);
        }
        source.element = encoding.element;
        source.scaled = encoding.scaled;
        source.offset = encoding.offset;
        source.scale = encoding.scale;
        source.reduction = encoding.reduction;
      }
      task.sources.push_back(source);
    }
    return {};
  }

  std::optional<Reduction> by_presets(Kind kind, std::string_view column, Element element) const {
    for (auto at = options_.presets.rbegin(); at != options_.presets.rend(); ++at) {
      if (!(*at)->is_for(kind)) continue;
      Reduction reduction{(*at)->resolution(column), options_.whole_bytes};
      if (reduction.resolution && !is_resolution(element, *reduction.resolution)) {
        reduction.resolution.reset();
      }
      return reduction;
    }
    return std::nullopt;
  }

  // Reduces the columns that are to be, so that their sizes are known.
  static Error reduce_all(PackTask &task, std::size_t rows) {
    struct Gathered {
      Source *source;
      std::vector<std::uint8_t> elements;
      std::vector<std::uint8_t> bits;
    };
    const Leaves all = leaves(task.kind);
    std::vector<Gathered> wanted;
    for (Source &source : task.sources) {
      if (!source.reduction) continue;
      wanted.push_back({&source, std::vector<std::uint8_t>(rows * size_of(source.element)),
                        std::vector<std::uint8_t>((rows + 7) / 8)});
    }
    if (wanted.empty()) return {};
    std::size_t at = 0;
    const Error error = for_rows(all, task.message, [&](const Row &row) {
      for (Gathered &one : wanted) {
        Source &source = *one.source;
        if ((row.has >> source.leaf & 1) == 0) continue;
        Presence(one.bits.data()).set(at);
        std::uint8_t *place = one.elements.data() + at * size_of(source.element);
        const std::uint64_t bits = row.values[source.leaf];
        if (Error bad = store_leaf(all.data[source.leaf], source, bits, place, source.error)) {
          return bad;
        }
      }
      ++at;
      return Error{};
    });
    if (error) return error;
    for (Gathered &one : wanted) {
      Source &source = *one.source;
      const Leaf &leaf = all.data[source.leaf];
      Error failed;
      with_element(source.element, [&](auto zero) {
        std::vector<decltype(zero)> values(rows);
        for (std::size_t row = 0; row < rows; ++row) {
          values[row] = load<decltype(zero)>(one.elements.data() + row * sizeof(zero));
        }
        failed = reduce(leaf.name, values.data(), rows, source.optional ? one.bits.data() : nullptr,
                        *source.reduction, source.reduced);
      });
      failed.number = leaf.number;
      if (failed) return failed;
      if (source.reduced.error > source.error) source.error = source.reduced.error;
    }
    return {};
  }

  static Error fill(const PackTask &task, const Table &table, std::vector<Precision> *precision) {
    const Leaves all = leaves(task.kind);
    std::vector<std::uint8_t *> data;
    std::vector<Presence> presence;
    for (std::size_t i = 0; i < task.sources.size(); ++i) {
      data.push_back(table.elements(i));
      presence.push_back(table.presence(i));
    }
    std::vector<double> errors;
    for (const Source &source : task.sources) errors.push_back(source.error);
    std::size_t at = 0;
    const Error error = for_rows(all, task.message, [&](const Row &row) {
      for (std::size_t i = 0; i < task.sources.size(); ++i) {
        const Source &source = task.sources[i];
        const Leaf &leaf = all.data[source.leaf];
        const bool has = source.message ? (row.messages >> leaf.number & 1) != 0
                                        : (row.has >> source.leaf & 1) != 0;
        if (!has) continue;
        if (source.optional) presence[i].set(at);
        if (source.message || source.reduction) continue;
        std::uint8_t *place = data[i] + at * size_of(source.element);
        if (Error bad = store_leaf(leaf, source, row.values[source.leaf], place, errors[i])) {
          return bad;
        }
      }
      ++at;
      return Error{};
    });
    if (error) return error;
    for (std::size_t i = 0; i < task.sources.size(); ++i) {
      const Source &source = task.sources[i];
      if (source.reduction) table.put(i, source.reduced.bytes);
      if (precision == nullptr) continue;
      const std::size_t elements =
          source.reduction ? source.reduced.bytes.size() : at * size_of(source.element);
      const std::size_t bits = source.optional ? (at + 7) / 8 : 0;
      precision->push_back({task.kind, source.name, source.element, errors[i], elements + bits});
    }
    return {};
  }

  const PackOptions &options_;
  std::vector<Layout> layouts_;
  std::vector<PackTask> tasks_;
};

// The rows of a packed field as sub-messages.
class RowWriter {
 public:
  Error open(Kind kind, const View &view, bool drop_unknown) {
    all_ = leaves(kind);
    rows_ = view.rows();
    for (std::size_t i = 0; i < view.columns(); ++i) {
      const Values values = view.values(i);
      std::size_t leaf = 0;
      bool message = false;
      for (; leaf < all_.size; ++leaf) {
        const Leaf &one = all_.data[leaf];
        if (values.name == one.name) break;
        message = one.inner == 1 && values.name == marker(one);
        if (message) break;
      }
      if (leaf == all_.size || !values.known) {
        if (drop_unknown) continue;
        return fault(Fault::foreign, static_cast<std::uint32_t>(i), values.name);
      }
      const bool whole = is_integer(values.element) && !values.scaled;
      const bool fits = message ? values.element == Element::none
                                : values.element != Element::none &&
                                      (all_.data[leaf].type == Type::number || whole);
      if (!fits) return fault(Fault::element, static_cast<std::uint32_t>(i), values.name);
      columns_.push_back({values, leaf, message});
    }
    return {};
  }

  std::size_t rows() const { return rows_; }

  // Restores reduced columns, so that their elements are there by row.
  void restore() {
    for (Origin &column : columns_) {
      if (!column.values.reduced) continue;
      column.elements = column.values.elements();
      column.values.data = column.elements.data();
      column.values.reduced = false;
    }
  }

  // The values of a row, and bytes of its fields.
  Error row(std::size_t at, Row &row, std::size_t &size) const {
    row.has = 0;
    row.messages = 0;
    for (const Origin &column : columns_) {
      if (!column.values.present(at)) continue;
      const Leaf &leaf = all_.data[column.leaf];
      if (leaf.inner != 0) row.messages |= 1u << leaf.number;
      if (column.message) continue;
      row.has |= 1u << column.leaf;
      if (!value(column.values, leaf, at, row.values[column.leaf])) {
        return fault(Fault::value, leaf.number, leaf.name);
      }
    }
    size = 0;
    for (std::size_t i = 0; i < all_.size;) {
      const Leaf &leaf = all_.data[i];
      if (leaf.inner == 0) {
        size += leaf_size(row, i++);
        continue;
      }
      const std::size_t content = content_size(row, i);
      if ((row.messages >> leaf.number & 1) != 0) size += 1 + varint_size(content) + content;
      while (i < all_.size && all_.data[i].number == leaf.number) ++i;
    }
    return {};
  }

  std::uint8_t *write(const Row &row, std::uint8_t *out) const {
    for (std::size_t i = 0; i < all_.size;) {
      const Leaf &leaf = all_.data[i];
      if (leaf.inner == 0) {
        out = write_leaf(row, i++, leaf.number, out);
        continue;
      }
      const bool there = (row.messages >> leaf.number & 1) != 0;
      if (there) {
        out = put_varint(put_varint(out, tag(leaf.number, 2)), content_size(row, i));
      }
      for (; i < all_.size && all_.data[i].number == leaf.number; ++i) {
        if (there) out = write_leaf(row, i, all_.data[i].inner, out);
      }
    }
    return out;
  }

 private:
  struct Origin {
    Values values;
    std::size_t leaf;
    bool message;
    std::vector<std::uint8_t> elements{};  // where they had to be restored
  };

  static bool value(const Values &values, const Leaf &leaf, std::size_t at, std::uint64_t &out) {
    const std::uint8_t *place = values.data + at * size_of(values.element);
    if (leaf.type == Type::number) {
      if (values.element == Element::f64) {
        out = load<std::uint64_t>(place);
      } else {
        const double value = values.value(at);
        std::memcpy(&out, &value, 8);
      }
      return true;
    }
    const std::size_t size = size_of(values.element);
    const bool is_signed = values.element >= Element::i64;
    out = 0;
    std::memcpy(&out, place, size);
    const std::size_t unused = 64 - 8 * size;
    if (is_signed) {
      // Moves the sign to the top and back.
      out = static_cast<std::uint64_t>(static_cast<std::int64_t>(out << unused) >> unused);
    }
    if (leaf.type == Type::identifier) return !is_signed || static_cast<std::int64_t>(out) >= 0;
    if (!is_signed) return out <= INT32_MAX;
    const auto number = static_cast<std::int64_t>(out);
    return number >= INT32_MIN && number <= INT32_MAX;
  }

  // All numbers are below 16: a tag is one byte.
  std::size_t leaf_size(const Row &row, std::size_t index) const {
    if ((row.has >> index & 1) == 0) return 0;
    return 1 + (all_.data[index].type == Type::number ? 8 : varint_size(row.values[index]));
  }

  std::size_t content_size(const Row &row, std::size_t first) const {
    std::size_t size = 0;
    for (std::size_t i = first; i < all_.size && all_.data[i].number == all_.data[first].number;
         ++i) {
      size += leaf_size(row, i);
    }
    return size;
  }

  std::uint8_t *write_leaf(const Row &row, std::size_t index, std::uint32_t number,
                           std::uint8_t *out) const {
    if ((row.has >> index & 1) == 0) return out;
    if (all_.data[index].type != Type::number) {
      return put_varint(put_varint(out, tag(number, 0)), row.values[index]);
    }
    out = put_varint(out, tag(number, 1));
    store(out, row.values[index]);
    return out + 8;
  }

  Leaves all_{};
  std::size_t rows_ = 0;
  std::vector<Origin> columns_;
};

inline void put_bytes(std::vector<std::uint8_t> &out, Bytes bytes) {
  out.insert(out.end(), bytes.data, bytes.data + bytes.size);
}

inline void put_tag(std::vector<std::uint8_t> &out, std::uint32_t number, std::uint64_t size) {
  std::array<std::uint8_t, 15> head;
  const std::uint8_t *end = put_varint(put_varint(head.data(), tag(number, 2)), size);
  out.insert(out.end(), static_cast<const std::uint8_t *>(head.data()), end);
}

inline Error unpack_rows(Kind kind, Bytes field, const UnpackOptions &options,
                         std::vector<std::uint8_t> &out) {
  View view;
  if (Error error = View::open(field, view)) return error;
  RowWriter writer;
  if (Error error = writer.open(kind, view, options.drop_unknown)) return error;
  // An empty row takes two bytes: more rows than that are refused unread.
  if (writer.rows() > options.limit / 2) return fault(Fault::limit);
  writer.restore();
  Row row;
  for (std::size_t i = 0; i < writer.rows(); ++i) {
    std::size_t size = 0;
    if (Error error = writer.row(i, row, size)) return error;
    put_tag(out, kRows, size);
    const std::size_t at = out.size();
    if (at + size > options.limit) return fault(Fault::limit);
    out.resize(at + size);
    writer.write(row, out.data() + at);
  }
  return {};
}

inline Error unpack(Level level, Bytes bytes, const UnpackOptions &options,
                    std::vector<std::uint8_t> &out, bool &changed) {
  Fields fields(bytes);
  Field field;
  std::size_t kept = 0;
  Field last;  // the packed field that counts
  bool rows = false;
  while (is_kind(level) && fields.next(field)) {
    if (field.type != 2) continue;
    if (field.number == kField) last = field;
    if (field.number == kRows) rows = true;
  }
  if (Error error = fields.error()) return error;
  if (last.number != 0 && rows) return fault(Fault::both);
  fields = Fields(bytes);
  while (fields.next(field)) {
    if (field.type != 2) continue;
    std::vector<std::uint8_t> inner;
    bool inside = false;
    if (is_kind(level)) {
      if (field.number != kField) continue;
      inside = true;
      if (field.begin == last.begin) {
        const Kind kind = static_cast<Kind>(level);
        if (Error error = unpack_rows(kind, field.content, options, inner)) return error;
      }
    } else if (const Level below = descend(level, field.number); below != Level::other) {
      if (Error error = unpack(below, field.content, options, inner, inside)) return error;
    }
    if (!inside) continue;
    put_bytes(out, bytes.part(kept, field.begin - kept));
    if (!is_kind(level)) put_tag(out, field.number, inner.size());
    put_bytes(out, Bytes(inner));
    if (out.size() > options.limit) return fault(Fault::limit);
    kept = field.end;
    changed = true;
  }
  if (Error error = fields.error()) return error;
  if (changed) put_bytes(out, bytes.part(kept, bytes.size - kept));
  return {};
}

}  // namespace detail

// Replaces reflections and detections by packed fields, in the place of the
// first of them; all else stays byte for byte. Lossless but for the encodings
// and presets in the options, whose cost goes to `precision`. Refused: a row with a field
// that has no column (unknown), a value that its encoding cannot hold (value),
// a message with rows and a packed field (both), a preset that there is not
// (preset). `out` is empty then. Allocates.
inline Error pack(Root root, Bytes message, std::vector<std::uint8_t> &out,
                  const PackOptions &options = {}, std::vector<Precision> *precision = nullptr) {
  out.clear();
  for (std::size_t i = 0; i < options.presets.size(); ++i) {
    if (options.presets[i] != nullptr) continue;
    return detail::fault(Fault::preset, static_cast<std::uint32_t>(i), detail::preset_names());
  }
  detail::Packer packer(options);
  std::vector<detail::Part> parts;
  bool changed = false;
  Error error = packer.split(detail::level_of(root), message, parts, changed);
  if (!error) error = packer.finish(parts, out, precision);
  if (error) out.clear();
  return error;
}

// Replaces packed fields by reflections and detections; all else stays byte for
// byte. Refused: a column that OSI has no field for (foreign), unless dropped
// by the options; a message with rows and a packed field (both). `out` is empty
// then. Allocates.
inline Error unpack(Root root, Bytes message, std::vector<std::uint8_t> &out,
                    const UnpackOptions &options = {}) {
  out.clear();
  bool changed = false;
  Error error = detail::unpack(detail::level_of(root), message, options, out, changed);
  if (!error && !changed) detail::put_bytes(out, message);
  if (!error && out.size() > options.limit) error = detail::fault(Fault::limit);
  if (error) out.clear();
  return error;
}

}  // namespace wiregauge::packed
