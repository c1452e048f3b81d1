// The packed field of OSI messages (docs/packed.md): reflections and detections
// as columns, written and read in place.
//
// C++17, no dependency, no exceptions of its own. What allocates says so.
//
//   write   Layout and Table for the field's bytes, Message for a whole
//           SensorView or SensorData around them
//   read    find() and first() for the field in a message, View for its bytes
//   reduce  reduce() in packed_reduce.hpp
//   convert pack() and unpack() in packed_convert.hpp
//   presets preset() in packed_preset.hpp, for pack()
//
// Long because: users copy it into their projects as one file.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the packed field is written for little-endian machines"
#endif

namespace wiregauge::packed {

// The field's number in LidarSensorView, RadarSensorView, LidarDetectionData and
// RadarDetectionData.
constexpr std::uint32_t kField = 52307;

constexpr std::uint16_t kMajor = 1;
constexpr std::uint16_t kMinor = 1;  // a field without a reduced column is written as 1.0

// What a reader takes at most, and a writer writes.
constexpr std::uint64_t kMaximumSize = 0x7fffffff;  // bytes, Protobuf's own limit
constexpr std::uint64_t kMaximumRows = 0x7fffffff;
constexpr std::size_t kMaximumColumns = 256;
constexpr std::size_t kMaximumName = 255;        // bytes
constexpr std::size_t kMaximumAlignment = 4096;  // bytes

// Bytes of somebody else.
struct Bytes {
  const std::uint8_t *data = nullptr;
  std::size_t size = 0;

  Bytes() = default;
  Bytes(const std::uint8_t *begin, std::size_t count) : data(begin), size(count) {}
  Bytes(const void *begin, std::size_t count)
      : data(static_cast<const std::uint8_t *>(begin)), size(count) {}
  Bytes(const std::string &text) : Bytes(text.data(), text.size()) {}
  Bytes(const std::vector<std::uint8_t> &bytes) : data(bytes.data()), size(bytes.size()) {}

  // Room for bytes that the caller writes into the finished buffer (Message).
  static Bytes room(std::size_t count) {
    return Bytes(static_cast<const std::uint8_t *>(nullptr), count);
  }

  Bytes part(std::size_t begin, std::size_t count) const { return Bytes(data + begin, count); }
};

enum class Fault : std::uint8_t {
  none,
  truncated,   // the field ends before its header, descriptors or names do
  magic,       // other bytes than the packed field's
  version,     // a major version that this reader does not know
  header,      // header or descriptors shorter than version 1.0 has them
  limit,       // more bytes, rows, columns or alignment than allowed
  name,        // empty, too long or not printable ASCII
  duplicate,   // two columns of one name
  range,       // a column or a name outside of the field, or of the wrong size
  overlap,     // two columns share bytes, or one lies in the header
  scale,       // a scale that is zero, not finite, or not on an integer column
  wire,        // not the wire format of Protobuf
  depth,       // groups nested too deep
  unknown,     // a field of a row that has no column and would be lost
  foreign,     // a column that OSI has no field for and would be lost
  both,        // sub-messages and the packed field in one message
  element,     // an element type that the column cannot have
  value,       // a value that the element type cannot hold
  kind,        // detections for a SensorView, or reflections for SensorData
  buffer,      // a buffer of another size than planned
  resolution,  // one that is no positive number, or not on f64 or f32
  steps,       // a value that is too many of its resolution
  blocks,      // blocks of a reduced column that do not hold its rows
  preset,      // a preset that there is not
};

// What went wrong; false where nothing did.
struct Error {
  Fault fault = Fault::none;
  std::uint32_t number = 0;  // the field's number, or the column's or preset's index
  std::string name{};        // the column's name, where one is meant; presets that there are

  explicit operator bool() const { return fault != Fault::none; }
  std::string message() const;  // one line
};

// IEEE 754 binary16.
struct Half {
  std::uint16_t bits = 0;

  // Rounds to nearest, ties to even; too large a value becomes infinite.
  static Half from(double value);
  double value() const;
};

enum class Element : std::uint8_t {
  none = 0,  // no bytes: the presence bitmap is all there is
  f64 = 1,
  f32 = 2,
  f16 = 3,
  u64 = 4,
  u32 = 5,
  u16 = 6,
  u8 = 7,
  i64 = 8,
  i32 = 9,
  i16 = 10,
  i8 = 11,
};

// Bytes of one element.
constexpr std::size_t size_of(Element element) {
  constexpr std::size_t sizes[] = {0, 8, 4, 2, 8, 4, 2, 1, 8, 4, 2, 1};
  return static_cast<std::size_t>(element) < 12 ? sizes[static_cast<std::size_t>(element)] : 0;
}

// Whether it can be reduced to a resolution.
constexpr bool is_decimal(Element element) {
  return element == Element::f64 || element == Element::f32;
}

constexpr bool is_integer(Element element) {
  return element >= Element::u64 && element <= Element::i8;
}

namespace detail {

template <class T>
struct ElementOf;
// clang-format off
template <> struct ElementOf<double> { static constexpr Element value = Element::f64; };
template <> struct ElementOf<float> { static constexpr Element value = Element::f32; };
template <> struct ElementOf<Half> { static constexpr Element value = Element::f16; };
template <> struct ElementOf<std::uint64_t> { static constexpr Element value = Element::u64; };
template <> struct ElementOf<std::uint32_t> { static constexpr Element value = Element::u32; };
template <> struct ElementOf<std::uint16_t> { static constexpr Element value = Element::u16; };
template <> struct ElementOf<std::uint8_t> { static constexpr Element value = Element::u8; };
template <> struct ElementOf<std::int64_t> { static constexpr Element value = Element::i64; };
template <> struct ElementOf<std::int32_t> { static constexpr Element value = Element::i32; };
template <> struct ElementOf<std::int16_t> { static constexpr Element value = Element::i16; };
template <> struct ElementOf<std::int8_t> { static constexpr Element value = Element::i8; };
// clang-format on

template <class T>
T load(const std::uint8_t *at) {
  T value;
  std::memcpy(&value, at, sizeof(T));
  return value;
}

template <class T>
void store(std::uint8_t *at, T value) {
  std::memcpy(at, &value, sizeof(T));
}

constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t alignment) {
  return (value + alignment - 1) / alignment * alignment;
}

constexpr std::size_t kHeader = 32;
constexpr std::size_t kDescriptor = 48;
constexpr std::uint8_t kScaled = 1;
constexpr std::uint8_t kReduced = 2;
inline const char *magic() { return "WGPACKED"; }

// Calls with a zero of the element's type; not at all where it is none.
template <class Call>
void with_element(Element element, Call &&call) {
  switch (element) {
    case Element::f64:
      return call(double{});
    case Element::f32:
      return call(float{});
    case Element::f16:
      return call(Half{});
    case Element::u64:
      return call(std::uint64_t{});
    case Element::u32:
      return call(std::uint32_t{});
    case Element::u16:
      return call(std::uint16_t{});
    case Element::u8:
      return call(std::uint8_t{});
    case Element::i64:
      return call(std::int64_t{});
    case Element::i32:
      return call(std::int32_t{});
    case Element::i16:
      return call(std::int16_t{});
    case Element::i8:
      return call(std::int8_t{});
    case Element::none:
      return;
  }
}

// Whether a descriptor's element type and flags are none of a later version.
inline bool is_known(const std::uint8_t *descriptor) {
  return descriptor[46] <= static_cast<std::uint8_t>(Element::i8) &&
         (descriptor[47] & ~(kScaled | kReduced)) == 0;
}

inline Error fault(Fault fault, std::uint32_t number = 0, std::string_view name = {}) {
  return Error{fault, number, std::string(name)};
}

inline bool is_resolution(Element element, double resolution) {
  return is_decimal(element) && resolution > 0.0 && std::isfinite(resolution);
}

inline bool printable(std::string_view name) {
  if (name.empty() || name.size() > kMaximumName) return false;
  for (char c : name) {
    if (c < 0x21 || c > 0x7e) return false;
  }
  return true;
}

// The raw integer as a double, as near as a double can be.
inline double raw_value(Element element, const std::uint8_t *at) {
  switch (element) {
    case Element::f64:
      return load<double>(at);
    case Element::f32:
      return static_cast<double>(load<float>(at));
    case Element::f16:
      return Half{load<std::uint16_t>(at)}.value();
    case Element::u64:
      return static_cast<double>(load<std::uint64_t>(at));
    case Element::u32:
      return load<std::uint32_t>(at);
    case Element::u16:
      return load<std::uint16_t>(at);
    case Element::u8:
      return *at;
    case Element::i64:
      return static_cast<double>(load<std::int64_t>(at));
    case Element::i32:
      return load<std::int32_t>(at);
    case Element::i16:
      return load<std::int16_t>(at);
    case Element::i8:
      return load<std::int8_t>(at);
    case Element::none:
      break;
  }
  return std::numeric_limits<double>::quiet_NaN();
}

// Whether the rounded value is in the integer type's range. The upper bound is
// exclusive, as the largest 64 bit integers are no doubles.
template <class T>
bool store_integer(double rounded, std::uint8_t *at) {
  constexpr int bits = std::numeric_limits<T>::digits;
  const double top = std::ldexp(1.0, bits);
  const double bottom = std::is_signed_v<T> ? -top : 0.0;
  if (!(rounded >= bottom && rounded < top)) return false;
  store(at, static_cast<T>(rounded));
  return true;
}

// Rounds a value to the element type; false where it is out of range.
inline bool store_value(Element element, bool scaled, double offset, double scale, double value,
                        std::uint8_t *at) {
  switch (element) {
    case Element::f64:
      store(at, value);
      return true;
    case Element::f32: {
      // Beyond the largest float the cast is undefined, below half a step it rounds.
      constexpr double top = 0x1.ffffffp127;
      if (std::isfinite(value) && std::fabs(value) >= top) return false;
      store(at, static_cast<float>(value));
      return true;
    }
    case Element::f16: {
      const Half half = Half::from(value);
      if (std::isfinite(value) && (half.bits & 0x7fff) == 0x7c00) return false;
      store(at, half.bits);
      return true;
    }
    case Element::none:
      return false;
    default:
      break;
  }
  const double rounded = std::nearbyint(scaled ? (value - offset) / scale : value);
  switch (element) {
    case Element::u64:
      return store_integer<std::uint64_t>(rounded, at);
    case Element::u32:
      return store_integer<std::uint32_t>(rounded, at);
    case Element::u16:
      return store_integer<std::uint16_t>(rounded, at);
    case Element::u8:
      return store_integer<std::uint8_t>(rounded, at);
    case Element::i64:
      return store_integer<std::int64_t>(rounded, at);
    case Element::i32:
      return store_integer<std::int32_t>(rounded, at);
    case Element::i16:
      return store_integer<std::int16_t>(rounded, at);
    case Element::i8:
      return store_integer<std::int8_t>(rounded, at);
    default:
      return false;
  }
}

}  // namespace detail

inline Half Half::from(double value) {
  const auto bits = detail::load<std::uint64_t>(reinterpret_cast<const std::uint8_t *>(&value));
  const auto sign = static_cast<std::uint16_t>(bits >> 48 & 0x8000);
  const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
  std::uint64_t fraction = bits & 0xfffffffffffff;
  if (exponent == 1024) {
    // A NaN stays one, whatever part of its payload is left.
    const auto payload = static_cast<std::uint16_t>(fraction >> 42);
    return Half{static_cast<std::uint16_t>(sign | 0x7c00 | (fraction != 0 ? payload | 0x200 : 0))};
  }
  if (exponent < -25) return Half{sign};
  fraction |= std::uint64_t{1} << 52;
  // Subnormal halves have fewer bits; what is shifted out decides the rounding.
  const int shift = exponent < -14 ? 42 + (-14 - exponent) : 42;
  std::uint64_t kept = fraction >> shift;
  const std::uint64_t rest = fraction & ((std::uint64_t{1} << shift) - 1);
  const std::uint64_t half = std::uint64_t{1} << (shift - 1);
  if (rest > half || (rest == half && (kept & 1) != 0)) ++kept;
  if (exponent >= -14) kept += static_cast<std::uint64_t>(exponent + 14) << 10;
  if (exponent > 15 || kept >= 0x7c00) kept = 0x7c00;
  return Half{static_cast<std::uint16_t>(sign | kept)};
}

inline double Half::value() const {
  const int exponent = bits >> 10 & 0x1f;
  const std::uint64_t fraction = bits & 0x3ff;
  const std::uint64_t sign = static_cast<std::uint64_t>(bits & 0x8000) << 48;
  if (exponent == 0) {
    const double size = std::ldexp(static_cast<double>(fraction), -24);
    return sign != 0 ? -size : size;
  }
  const std::uint64_t wide = exponent == 31 ? 0x7ff : static_cast<std::uint64_t>(exponent + 1008);
  const std::uint64_t out = sign | wide << 52 | fraction << 42;
  return detail::load<double>(reinterpret_cast<const std::uint8_t *>(&out));
}

// ---- Writing ----

// A column to be written.
struct Column {
  std::string_view name;
  Element element = Element::f64;
  bool optional = false;  // whether there is a presence bitmap
  bool scaled = false;    // value = offset + scale * raw; integers only
  double offset = 0.0;
  double scale = 0.0;
  bool reduced = false;     // by packed_reduce.hpp
  double resolution = 0.0;  // of a reduced column, in its unit; 0 where every bit is kept
  std::size_t size = 0;     // of a reduced column, in bytes
};

// Elements to be written. Stores are unaligned ones and vectorize all the same;
// keep the sink in a local variable in a loop.
template <class T>
class Sink {
 public:
  class Place {
   public:
    explicit Place(std::uint8_t *at) : at_(at) {}
    void operator=(T value) const { detail::store(at_, value); }

   private:
    std::uint8_t *at_;
  };

  Sink() = default;
  Sink(std::uint8_t *data, std::size_t size) : data_(data), size_(size) {}

  // Unchecked: row < size().
  Place operator[](std::size_t row) const { return Place(data_ + row * sizeof(T)); }
  std::size_t size() const { return size_; }  // rows; 0 where there is no such column
  std::uint8_t *data() const { return data_; }
  explicit operator bool() const { return data_ != nullptr; }

 private:
  std::uint8_t *data_ = nullptr;
  std::size_t size_ = 0;
};

// A presence bitmap to be written. All rows are absent at first.
class Presence {
 public:
  Presence() = default;
  explicit Presence(std::uint8_t *bits) : bits_(bits) {}

  void set(std::size_t row) const {
    bits_[row / 8] = static_cast<std::uint8_t>(bits_[row / 8] | 1u << row % 8);
  }
  void set_all(std::size_t rows) const {
    for (std::size_t row = 0; row < rows; ++row) set(row);
  }
  explicit operator bool() const { return bits_ != nullptr; }

 private:
  std::uint8_t *bits_ = nullptr;
};

class Layout;

// A field whose header is written and whose columns are to be filled. Points
// into the buffer and to the layout.
class Table {
 public:
  Table() = default;
  Table(const Layout *layout, std::uint8_t *data) : layout_(layout), data_(data) {}

  std::size_t rows() const;

  // Elements of a column by index or name; false where the type is another one,
  // it is reduced, or there is no such column. Every row must be written, an absent one by 0.
  template <class T>
  Sink<T> column(std::size_t index) const;
  template <class T>
  Sink<T> column(std::string_view name) const;

  // The bitmap of an optional column.
  Presence presence(std::size_t index) const;
  Presence presence(std::string_view name) const;

  // Writes one value, rounded and scaled as the column says; false where it is
  // out of range, not a number for an integer, or reduced.
  bool set(std::size_t index, std::size_t row, double value) const;

  // The first byte of a column's elements, of whatever type; null where there
  // is no such column.
  std::uint8_t *elements(std::size_t index) const;

  // Writes the bytes of a reduced column; false where it has not so many.
  bool put(std::size_t index, Bytes reduced) const;

  std::uint8_t *data() const { return data_; }  // the field's first byte

 private:
  const Layout *layout_ = nullptr;
  std::uint8_t *data_ = nullptr;
};

// Where everything lies in a field of known columns and rows. Allocates.
class Layout {
 public:
  // Plans a field. Columns lie at multiples of the alignment (a power of two),
  // counted from `start` bytes before the field: 0 for a field by itself.
  Error plan(const Column *columns, std::size_t count, std::uint64_t rows, std::uint64_t start = 0,
             std::size_t alignment = 64) {
    if (count > kMaximumColumns || rows > kMaximumRows || alignment == 0 ||
        alignment > kMaximumAlignment || (alignment & (alignment - 1)) != 0) {
      return detail::fault(Fault::limit);
    }
    rows_ = rows;
    alignment_ = alignment;
    columns_.clear();
    names_.clear();
    std::uint64_t names = 0;
    std::uint64_t at = 0;  // from the first column's first byte, which is aligned
    for (std::size_t i = 0; i < count; ++i) {
      const Column &column = columns[i];
      const auto number = static_cast<std::uint32_t>(i);
      if (!detail::printable(column.name)) {
        return detail::fault(Fault::name, number, column.name);
      }
      for (std::size_t other = 0; other < i; ++other) {
        if (columns[other].name == column.name) {
          return detail::fault(Fault::duplicate, number, column.name);
        }
      }
      if (column.element > Element::i8) {
        return detail::fault(Fault::element, number, column.name);
      }
      if (column.scaled && (!is_integer(column.element) || column.scale == 0.0 ||
                            !std::isfinite(column.scale) || !std::isfinite(column.offset))) {
        return detail::fault(Fault::scale, number, column.name);
      }
      if (column.reduced && column.element == Element::none) {
        return detail::fault(Fault::element, number, column.name);
      }
      if (column.reduced && column.size > kMaximumSize) return detail::fault(Fault::limit);
      if (column.reduced && column.resolution != 0.0 &&
          !detail::is_resolution(column.element, column.resolution)) {
        return detail::fault(Fault::resolution, number, column.name);
      }
      Place place{column.element, column.optional, column.scaled, column.offset, column.scale};
      place.reduced = column.reduced;
      if (column.reduced && !column.scaled) place.scale = column.resolution;
      place.size = column.reduced ? column.size : rows * size_of(column.element);
      place.name = static_cast<std::uint32_t>(names);
      place.name_size = static_cast<std::uint16_t>(column.name.size());
      names += column.name.size();
      names_.append(column.name);
      at = detail::align_up(at, alignment);
      place.data = at;
      at += place.size;
      if (column.optional) {
        at = detail::align_up(at, alignment < 8 ? alignment : 8);
        place.presence = at;
        at += (rows + 7) / 8;
      }
      if (at > kMaximumSize) return detail::fault(Fault::limit);
      columns_.push_back(place);
    }
    body_ = at;
    head_ = detail::kHeader + count * detail::kDescriptor + names;
    pad_ = 0;
    move(start);
    return size() > kMaximumSize ? detail::fault(Fault::limit) : Error{};
  }
  Error plan(const std::vector<Column> &columns, std::uint64_t rows, std::uint64_t start = 0,
             std::size_t alignment = 64) {
    return plan(columns.data(), columns.size(), rows, start, alignment);
  }

  // Bytes of the field.
  std::size_t size() const { return static_cast<std::size_t>(head_ + pad_ + body_); }
  std::size_t rows() const { return static_cast<std::size_t>(rows_); }
  std::size_t columns() const { return columns_.size(); }

  // Writes everything but the columns' elements into size() bytes.
  Table write(std::uint8_t *out) const {
    std::memset(out, 0, static_cast<std::size_t>(head_ + pad_));
    std::memcpy(out, detail::magic(), 8);
    detail::store(out + 8, kMajor);
    bool reduced = false;
    for (const Place &place : columns_) reduced = reduced || place.reduced;
    detail::store(out + 10, reduced ? kMinor : std::uint16_t{0});
    detail::store(out + 12, static_cast<std::uint16_t>(detail::kHeader));
    detail::store(out + 14, static_cast<std::uint16_t>(detail::kDescriptor));
    detail::store(out + 16, rows_);
    detail::store(out + 24, static_cast<std::uint32_t>(columns_.size()));
    detail::store(out + 28, static_cast<std::uint32_t>(names_.size()));
    std::uint8_t *at = out + detail::kHeader;
    std::uint64_t end = 0;
    std::uint8_t *body = out + head_ + pad_;
    for (const Place &place : columns_) {
      const std::uint64_t size = place.size;
      detail::store(at, head_ + pad_ + place.data);
      detail::store(at + 8, size);
      detail::store(at + 16, place.optional ? head_ + pad_ + place.presence : 0);
      detail::store(at + 24, place.scaled ? place.offset : 0.0);
      detail::store(at + 32, place.scaled || place.reduced ? place.scale : 0.0);
      detail::store(at + 40, place.name);
      detail::store(at + 44, place.name_size);
      at[46] = static_cast<std::uint8_t>(place.element);
      at[47] = static_cast<std::uint8_t>((place.scaled ? detail::kScaled : 0) |
                                         (place.reduced ? detail::kReduced : 0));
      at += detail::kDescriptor;
      clear(body, end, place.data);
      end = place.data + size;
      if (place.optional) {
        clear(body, end, place.presence + (rows_ + 7) / 8);
        end = place.presence + (rows_ + 7) / 8;
      }
    }
    if (!names_.empty()) std::memcpy(at, names_.data(), names_.size());
    return Table(this, out);
  }

  // Takes all padding away, before the first move().
  void loosen() { pad_ = 0; }

  // Adds padding so that the columns are aligned where the field begins `start`
  // bytes into its message. Never takes any away, so that moving it repeatedly
  // while lengths around it grow comes to an end.
  void move(std::uint64_t start) {
    if (columns_.empty()) return;
    const std::uint64_t at = start + head_ + pad_;
    pad_ += detail::align_up(at, alignment_) - at;
  }

 private:
  friend class Table;
  struct Place {
    Element element;
    bool optional;
    bool scaled;
    double offset;
    double scale;
    std::uint64_t data = 0;
    std::uint64_t size = 0;
    std::uint64_t presence = 0;
    std::uint32_t name = 0;
    std::uint16_t name_size = 0;
    bool reduced = false;
  };

  static void clear(std::uint8_t *body, std::uint64_t begin, std::uint64_t end) {
    if (end > begin) std::memset(body + begin, 0, static_cast<std::size_t>(end - begin));
  }

  std::size_t index(std::string_view name) const {
    std::size_t i = 0;
    while (i < columns_.size() &&
           std::string_view(names_).substr(columns_[i].name, columns_[i].name_size) != name) {
      ++i;
    }
    return i;
  }

  std::vector<Place> columns_;
  std::string names_;
  std::uint64_t rows_ = 0;
  std::uint64_t alignment_ = 64;
  std::uint64_t head_ = 0;  // header, descriptors and names
  std::uint64_t pad_ = 0;
  std::uint64_t body_ = 0;
};

inline std::size_t Table::rows() const { return layout_ == nullptr ? 0 : layout_->rows(); }

inline std::uint8_t *Table::elements(std::size_t index) const {
  if (layout_ == nullptr || index >= layout_->columns_.size()) return nullptr;
  return data_ + layout_->head_ + layout_->pad_ + layout_->columns_[index].data;
}

inline bool Table::put(std::size_t index, Bytes reduced) const {
  if (layout_ == nullptr || index >= layout_->columns_.size()) return false;
  const Layout::Place &place = layout_->columns_[index];
  if (!place.reduced || place.size != reduced.size) return false;
  if (reduced.size != 0) std::memcpy(elements(index), reduced.data, reduced.size);
  return true;
}

template <class T>
Sink<T> Table::column(std::size_t index) const {
  if (layout_ == nullptr || index >= layout_->columns_.size()) return {};
  const Layout::Place &place = layout_->columns_[index];
  if (place.element != detail::ElementOf<T>::value || place.reduced) return {};
  return Sink<T>(elements(index), layout_->rows());
}

template <class T>
Sink<T> Table::column(std::string_view name) const {
  return layout_ == nullptr ? Sink<T>() : column<T>(layout_->index(name));
}

inline Presence Table::presence(std::size_t index) const {
  if (layout_ == nullptr || index >= layout_->columns_.size()) return {};
  const Layout::Place &place = layout_->columns_[index];
  if (!place.optional) return {};
  return Presence(data_ + layout_->head_ + layout_->pad_ + place.presence);
}

inline Presence Table::presence(std::string_view name) const {
  return layout_ == nullptr ? Presence() : presence(layout_->index(name));
}

inline bool Table::set(std::size_t index, std::size_t row, double value) const {
  if (layout_ == nullptr || index >= layout_->columns_.size() || row >= rows()) return false;
  const Layout::Place &place = layout_->columns_[index];
  if (place.reduced) return false;
  std::uint8_t *at = elements(index) + row * size_of(place.element);
  return detail::store_value(place.element, place.scaled, place.offset, place.scale, value, at);
}

// ---- Reduced columns ----

namespace detail {

constexpr std::size_t kBlock = 1024;    // rows of a block; the last one has what is left
constexpr std::size_t kBlockHead = 20;  // bytes of a block's head
constexpr std::size_t kEntry = 4;       // bytes of an entry of the index

// The powers of ten that are doubles.
constexpr double kPowers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                              1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                              1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};

// What a block's numbers stand for: an element's bits without so many lowest
// ones, number * resolution, or number / 10 to a power.
enum class Form : std::uint8_t { bits, steps, decimal };

// The bytes of `count` numbers of `width` bits.
constexpr std::size_t packed_size(std::size_t count, std::size_t width) {
  return (count * width + 7) / 8;
}

// Whether the numbers that go on in the next layer are listed; else they have a
// bitmap.
constexpr bool is_listed(std::size_t count, std::size_t next) { return 2 * next < (count + 7) / 8; }

// Bytes that say which of `count` numbers go on.
constexpr std::size_t places_size(std::size_t count, std::size_t next) {
  return is_listed(count, next) ? 2 * next : next == 0 ? 0 : (count + 7) / 8;
}

// Numbers in layers: the first has the lowest bits of all, the next the bits
// above them of those numbers that have some.
struct Layers {
  std::array<std::size_t, 3> widths{};
  std::array<std::size_t, 3> counts{};

  std::size_t size() const {
    return packed_size(counts[0], widths[0]) + places_size(counts[0], counts[1]) +
           packed_size(counts[1], widths[1]) + places_size(counts[1], counts[2]) +
           packed_size(counts[2], widths[2]);
  }
};

// Eight numbers are as many bytes as one has bits.
template <std::size_t kWidth>
void unpack_eight(const std::uint8_t *bytes, std::uint64_t *out) {
  std::uint64_t words[9] = {};
  std::memcpy(words, bytes, kWidth);
  for (std::size_t i = 0; i < 8; ++i) {
    const std::size_t bit = i * kWidth;
    std::uint64_t number = words[bit / 64] >> bit % 64;
    if (bit % 64 + kWidth > 64) number |= words[bit / 64 + 1] << (64 - bit % 64) % 64;
    out[i] = number & (~std::uint64_t{0} >> (64 - kWidth));
  }
}

template <std::size_t kWidth>
void unpack_all(const std::uint8_t *bytes, std::uint64_t *out, std::size_t count) {
  if constexpr (kWidth == 0) {
    std::fill(out, out + count, std::uint64_t{0});
  } else {
    for (; count >= 8; count -= 8, out += 8, bytes += kWidth) unpack_eight<kWidth>(bytes, out);
    if (count == 0) return;
    std::uint8_t last[kWidth] = {};
    std::memcpy(last, bytes, packed_size(count, kWidth));
    std::uint64_t numbers[8];
    unpack_eight<kWidth>(last, numbers);
    std::copy(numbers, numbers + count, out);
  }
}

template <std::size_t... kWidths>
void unpack_width(std::size_t width, const std::uint8_t *bytes, std::uint64_t *out,
                  std::size_t count, std::index_sequence<kWidths...>) {
  using Call = void (*)(const std::uint8_t *, std::uint64_t *, std::size_t);
  static constexpr Call calls[] = {unpack_all<kWidths>...};
  calls[width](bytes, out, count);
}

// Reads numbers of so many bits.
inline void unpack_bits(const std::uint8_t *bytes, std::size_t width, std::uint64_t *out,
                        std::size_t count) {
  unpack_width(width, bytes, out, count, std::make_index_sequence<65>());
}

// Whether places rise and stay below the end.
inline bool are_ascending(Bytes places, std::size_t end) {
  std::size_t least = 0;
  for (std::size_t at = 0; at < places.size; at += 2) {
    const std::size_t place = load<std::uint16_t>(places.data + at);
    if (place < least || place >= end) return false;
    least = place + 1;
  }
  return true;
}

inline std::uint64_t part_of_word(const std::uint8_t *bytes, std::size_t size) {
  std::uint64_t word = 0;
  std::memcpy(&word, bytes, size < 8 ? size : 8);
  return word;
}

inline std::size_t ones(std::uint64_t word) {
  word = word - (word >> 1 & 0x5555555555555555);
  word = (word & 0x3333333333333333) + (word >> 2 & 0x3333333333333333);
  return static_cast<std::size_t>(
      ((word + (word >> 4)) & 0x0f0f0f0f0f0f0f0f) * 0x0101010101010101 >> 56);
}

// The place of the lowest bit that is set; there is one.
inline std::size_t lowest(std::uint64_t word) {
#if defined(__GNUC__)
  return static_cast<std::size_t>(__builtin_ctzll(word));
#else
  return ones((word & (~word + 1)) - 1);
#endif
}

// Whether these say which `next` of `count` numbers go on.
inline bool are_places(Bytes places, std::size_t count, std::size_t next) {
  if (is_listed(count, next)) return are_ascending(places, count);
  std::size_t set = 0;
  for (std::size_t at = 0; at < places.size; at += 8) {
    set += ones(part_of_word(places.data + at, places.size - at));
  }
  const bool unused =
      places.size != 0 && count % 8 != 0 && places.data[places.size - 1] >> count % 8 != 0;
  return set == next && !unused;
}

// Adds the bits of the layer above.
inline void raise(std::uint64_t *numbers, std::size_t count, std::size_t width,
                  const std::uint64_t *above, std::size_t next, Bytes places) {
  if (is_listed(count, next)) {
    for (std::size_t i = 0; i < next; ++i) {
      numbers[load<std::uint16_t>(places.data + 2 * i)] |= above[i] << width;
    }
    return;
  }
  for (std::size_t at = 0; at < places.size; at += 8) {
    std::uint64_t word = part_of_word(places.data + at, places.size - at);
    for (; word != 0; word &= word - 1) {
      const std::size_t bit = lowest(word);
      numbers[8 * at + bit] |= *above++ << width;
    }
  }
}

// Bits in the order of the values: floats are sign and magnitude, and of
// negative ones the magnitude is turned over. The same again gives them back.
template <class T>
std::int64_t turn(std::int64_t number, std::size_t shift) {
  if constexpr (std::is_integral_v<T>) return number;
  const std::uint64_t magnitude = ~std::uint64_t{0} >> 1 >> (64 - 8 * sizeof(T)) >> shift;
  return number < 0 ? static_cast<std::int64_t>(static_cast<std::uint64_t>(number) ^ magnitude)
                    : number;
}

template <std::size_t kSize>
struct BitsOf;
// clang-format off
template <> struct BitsOf<8> { using Type = std::uint64_t; };
template <> struct BitsOf<4> { using Type = std::uint32_t; };
template <> struct BitsOf<2> { using Type = std::uint16_t; };
template <> struct BitsOf<1> { using Type = std::uint8_t; };
// clang-format on

template <class T>
T from_order(std::int64_t number, std::size_t shift) {
  const auto turned = static_cast<std::uint64_t>(turn<T>(number, shift)) << shift;
  const auto bits = static_cast<typename BitsOf<sizeof(T)>::Type>(turned);
  return load<T>(reinterpret_cast<const std::uint8_t *>(&bits));
}

// A block of a reduced column: its head, and where its parts lie.
struct Block {
  Form form = Form::bits;
  bool differences = false;  // whether numbers are kept as their differences
  std::size_t detail = 0;    // the shift of bits, the power of decimals
  std::int64_t base = 0;     // the first number; the smallest where not as differences
  Layers layers;
  std::size_t plain = 0;  // values that stand as they are
  std::array<Bytes, 3> packed{};
  std::array<Bytes, 2> places{};
  Bytes plain_rows;  // two bytes each
  Bytes plain_values;

  // False where the bytes are not such a block, to the last one.
  bool open(Bytes bytes, std::size_t rows, Element element, bool steps) {
    if (bytes.size < kBlockHead || !head(bytes.data, rows, element, steps)) return false;
    const std::size_t plain_size = plain * (2 + size_of(element));
    if (bytes.size != kBlockHead + layers.size() + plain_size) return false;
    std::size_t at = kBlockHead;
    const auto take = [&](std::size_t size) {
      at += size;
      return bytes.part(at - size, size);
    };
    for (std::size_t i = 0; i < 3; ++i) {
      packed[i] = take(packed_size(layers.counts[i], layers.widths[i]));
      if (i < 2) places[i] = take(places_size(layers.counts[i], layers.counts[i + 1]));
    }
    plain_rows = take(2 * plain);
    plain_values = take(plain * size_of(element));
    return are_places(places[0], rows, layers.counts[1]) &&
           are_places(places[1], layers.counts[1], layers.counts[2]) &&
           are_ascending(plain_rows, rows);
  }

  // The numbers of all rows.
  void numbers(std::uint64_t *out) const {
    const auto &[widths, counts] = layers;
    unpack_bits(packed[0].data, widths[0], out, counts[0]);
    if (counts[1] != 0) {
      std::uint64_t second[kBlock];
      unpack_bits(packed[1].data, widths[1], second, counts[1]);
      if (counts[2] != 0) {
        std::uint64_t third[kBlock];
        unpack_bits(packed[2].data, widths[2], third, counts[2]);
        raise(second, counts[1], widths[1], third, counts[2], places[1]);
      }
      raise(out, counts[0], widths[0], second, counts[1], places[0]);
    }
    auto number = static_cast<std::uint64_t>(base);
    if (!differences) {
      for (std::size_t row = 0; row < counts[0]; ++row) out[row] += number;
      return;
    }
    for (std::size_t row = 0; row < counts[0]; ++row) {
      number += out[row] >> 1 ^ (~(out[row] & 1) + 1);
      out[row] = number;
    }
  }

 private:
  bool head(const std::uint8_t *at, std::size_t rows, Element element, bool steps) {
    form = static_cast<Form>(at[0]);
    differences = at[1] == 1;
    detail = at[2];
    layers.widths = {at[3], at[4], at[5]};
    layers.counts = {rows, load<std::uint16_t>(at + 6), load<std::uint16_t>(at + 8)};
    plain = load<std::uint16_t>(at + 10);
    base = load<std::int64_t>(at + 12);
    const auto &[widths, counts] = layers;
    const bool known = form == Form::bits ? detail < 8 * size_of(element)
                       : form == Form::steps
                           ? steps && detail == 0
                           : form == Form::decimal && !steps && is_decimal(element) && detail < 23;
    return known && at[1] <= 1 && widths[0] + widths[1] + widths[2] <= 64 &&
           counts[0] >= counts[1] && counts[1] >= counts[2] &&
           (widths[1] == 0) == (counts[1] == 0) && (widths[2] == 0) == (counts[2] == 0) &&
           plain <= (form == Form::bits ? 0 : rows);
  }
};

// A reduced column: an index of the blocks' ends, then the blocks.
struct Blocks {
  Bytes bytes;
  std::size_t rows = 0;
  Element element = Element::none;
  double resolution = 0.0;  // 0 where every bit is kept

  std::size_t count() const { return (rows + kBlock - 1) / kBlock; }

  // Whether the bytes hold so many rows in sound blocks.
  bool check() const {
    if (bytes.size / kEntry < count()) return false;
    std::size_t begin = 0;
    const std::size_t size = bytes.size - count() * kEntry;
    for (std::size_t at = 0; at < count(); ++at) {
      const std::size_t end = this->end(at);
      Block block;
      if (end < begin || end > size ||
          !block.open(part(begin, end), rows_of(at), element, resolution != 0.0)) {
        return false;
      }
      begin = end;
    }
    return begin == size;
  }

  // The elements of some rows, which must be there.
  template <class T>
  void restore(std::size_t first, T *out, std::size_t wanted) const {
    while (wanted != 0) {
      const std::size_t at = first / kBlock;
      const std::size_t inside = first % kBlock;
      const std::size_t left = rows_of(at) - inside;
      const std::size_t now = wanted < left ? wanted : left;
      if (now == rows_of(at)) {
        restore_block(at, out);
      } else {
        T all[kBlock];
        restore_block(at, all);
        std::copy(all + inside, all + inside + now, out);
      }
      first += now;
      out += now;
      wanted -= now;
    }
  }

 private:
  std::size_t end(std::size_t at) const { return load<std::uint32_t>(bytes.data + at * kEntry); }
  std::size_t rows_of(std::size_t at) const {
    return rows - at * kBlock < kBlock ? rows - at * kBlock : kBlock;
  }
  Bytes part(std::size_t begin, std::size_t end) const {
    return bytes.part(count() * kEntry + begin, end - begin);
  }

  template <class T>
  void restore_block(std::size_t at, T *out) const {
    Block block;
    if (!block.open(part(at == 0 ? 0 : end(at - 1), end(at)), rows_of(at), element,
                    resolution != 0.0)) {
      return;  // cannot be, as it was checked
    }
    std::uint64_t numbers[kBlock];
    block.numbers(numbers);
    const auto each = [&](auto element_of) {
      for (std::size_t row = 0; row < block.layers.counts[0]; ++row) {
        out[row] = element_of(static_cast<std::int64_t>(numbers[row]));
      }
    };
    if (block.form == Form::bits) {
      each([&](std::int64_t number) { return from_order<T>(number, block.detail); });
    } else if constexpr (std::is_floating_point_v<T>) {
      const double power = kPowers[block.detail];
      if (block.form == Form::steps) {
        each([&](std::int64_t number) {
          return static_cast<T>(static_cast<double>(number) * resolution);
        });
      } else {
        each([&](std::int64_t number) {
          return static_cast<T>(static_cast<double>(number) / power);
        });
      }
    }
    for (std::size_t i = 0; i < block.plain; ++i) {
      out[load<std::uint16_t>(block.plain_rows.data + 2 * i)] =
          load<T>(block.plain_values.data + i * sizeof(T));
    }
  }
};

}  // namespace detail

// ---- Reading ----

// A column of any element type.
class Values {
 public:
  std::string_view name;
  Element element = Element::none;
  bool known = true;  // false for an element type or flag of a later version
  bool scaled = false;
  double offset = 0.0;
  double scale = 0.0;
  const std::uint8_t *data = nullptr;
  const std::uint8_t *bitmap = nullptr;  // null where every row has a value
  std::size_t rows = 0;
  bool reduced = false;     // its elements are not there in place, but read()
  double resolution = 0.0;  // of a reduced column, in its unit; 0 where every bit is kept
  std::size_t size = 0;     // bytes of data

  // False where there is no such column.
  explicit operator bool() const { return data != nullptr; }

  // Whether the row has a value. Unchecked: row < rows.
  bool present(std::size_t row) const {
    return bitmap == nullptr || (bitmap[row / 8] >> row % 8 & 1) != 0;
  }

  // The row's value in OSI's unit. Unchecked: row < rows. Not a number where
  // the element type is unknown or none. Of a reduced column it restores a whole
  // block: to go through rows, read() them.
  double value(std::size_t row) const {
    if (!known) return std::numeric_limits<double>::quiet_NaN();
    const double raw =
        reduced ? restored(row) : detail::raw_value(element, data + row * size_of(element));
    return scaled ? offset + scale * raw : raw;
  }

  // Copies elements from row `first` on, restored where they are reduced and
  // before their scale; false where the element type is another one or there
  // are not so many rows.
  template <class T>
  bool read(std::size_t first, T *out, std::size_t count) const {
    if (!known || element != detail::ElementOf<T>::value) return false;
    if (first > rows || count > rows - first) return false;
    if (reduced) {
      detail::Blocks{Bytes(data, size), rows, element, resolution}.restore(first, out, count);
    } else if (count != 0) {
      std::memcpy(static_cast<void *>(out), data + first * sizeof(T), count * sizeof(T));
    }
    return true;
  }

  // All elements of a reduced column, restored. Allocates.
  std::vector<std::uint8_t> elements() const {
    std::vector<std::uint8_t> out(rows * size_of(element));
    const auto all = [&](auto zero) {
      decltype(zero) block[detail::kBlock];
      for (std::size_t row = 0; row < rows; row += detail::kBlock) {
        const std::size_t count = rows - row < detail::kBlock ? rows - row : detail::kBlock;
        if (!read(row, block, count)) return;
        std::memcpy(out.data() + row * sizeof(zero), block, count * sizeof(zero));
      }
    };
    detail::with_element(element, all);
    return out;
  }

 private:
  double restored(std::size_t row) const {
    double out = std::numeric_limits<double>::quiet_NaN();
    detail::with_element(element, [&](auto value) {
      if (!read(row, &value, 1)) return;
      out = detail::raw_value(element, reinterpret_cast<const std::uint8_t *>(&value));
    });
    return out;
  }
};

// A column of one element type, without its scale.
template <class T>
class ColumnView {
 public:
  ColumnView() = default;
  ColumnView(const std::uint8_t *data, const std::uint8_t *bitmap, std::size_t rows)
      : data_(data), bitmap_(bitmap), rows_(rows) {}

  // Unchecked: row < size(). The value of an absent row means nothing.
  T operator[](std::size_t row) const { return detail::load<T>(data_ + row * sizeof(T)); }
  bool present(std::size_t row) const {
    return bitmap_ == nullptr || (bitmap_[row / 8] >> row % 8 & 1) != 0;
  }
  bool optional() const { return bitmap_ != nullptr; }
  std::size_t size() const { return rows_; }
  const std::uint8_t *data() const { return data_; }  // aligned only if the buffer is
  explicit operator bool() const { return data_ != nullptr; }

 private:
  const std::uint8_t *data_ = nullptr;
  const std::uint8_t *bitmap_ = nullptr;
  std::size_t rows_ = 0;
};

// A field that has been checked. Points into its bytes and allocates nothing
// but an error's text.
class View {
 public:
  // Checks everything once; no later access can leave the bytes.
  static Error open(Bytes bytes, View &out) {
    using detail::load;
    if (bytes.size < detail::kHeader) return detail::fault(Fault::truncated);
    if (std::memcmp(bytes.data, detail::magic(), 8) != 0) return detail::fault(Fault::magic);
    if (load<std::uint16_t>(bytes.data + 8) != kMajor) {
      return detail::fault(Fault::version, load<std::uint16_t>(bytes.data + 8));
    }
    const std::size_t header = load<std::uint16_t>(bytes.data + 12);
    const std::size_t descriptor = load<std::uint16_t>(bytes.data + 14);
    if (header < detail::kHeader || descriptor < detail::kDescriptor) {
      return detail::fault(Fault::header);
    }
    const auto rows = load<std::uint64_t>(bytes.data + 16);
    const std::size_t columns = load<std::uint32_t>(bytes.data + 24);
    const std::uint64_t names = load<std::uint32_t>(bytes.data + 28);
    if (bytes.size > kMaximumSize || rows > kMaximumRows || columns > kMaximumColumns) {
      return detail::fault(Fault::limit);
    }
    const std::uint64_t head = header + std::uint64_t{columns} * descriptor + names;
    if (head > bytes.size) return detail::fault(Fault::truncated);

    View view;
    view.bytes_ = bytes;
    view.rows_ = static_cast<std::size_t>(rows);
    view.columns_ = columns;
    view.header_ = header;
    view.descriptor_ = descriptor;
    view.names_ = static_cast<std::size_t>(head - names);
    for (std::size_t i = 0; i < columns; ++i) {
      if (Error error = view.check(i, head, names)) return error;
    }
    for (std::size_t i = 0; i < columns; ++i) {
      for (std::size_t other = 0; other < i; ++other) {
        const auto number = static_cast<std::uint32_t>(i);
        if (view.name(i) == view.name(other)) {
          return detail::fault(Fault::duplicate, number, view.name(i));
        }
        if (view.overlap(i, other)) return detail::fault(Fault::overlap, number, view.name(i));
      }
    }
    out = view;
    return {};
  }

  std::size_t rows() const { return rows_; }
  std::size_t columns() const { return columns_; }
  Bytes bytes() const { return bytes_; }
  std::uint16_t minor_version() const { return detail::load<std::uint16_t>(bytes_.data + 10); }

  // A column by index (below columns()) or name; false where there is none.
  Values values(std::size_t index) const {
    if (index >= columns_) return {};
    const std::uint8_t *at = describe(index);
    Values out;
    out.name = name(index);
    out.element = static_cast<Element>(at[46]);
    out.known = detail::is_known(at);
    out.scaled = (at[47] & detail::kScaled) != 0;
    out.offset = detail::load<double>(at + 24);
    out.scale = detail::load<double>(at + 32);
    out.data = bytes_.data + detail::load<std::uint64_t>(at);
    const auto presence = detail::load<std::uint64_t>(at + 16);
    out.bitmap = presence == 0 ? nullptr : bytes_.data + presence;
    out.rows = rows_;
    out.size = static_cast<std::size_t>(detail::load<std::uint64_t>(at + 8));
    out.reduced = out.known && (at[47] & detail::kReduced) != 0;
    if (out.reduced && !out.scaled) out.resolution = out.scale;
    return out;
  }
  Values values(std::string_view name) const { return values(index(name)); }

  // The raw elements in place; false where there is no such column or it has
  // another element type, an unknown flag or a scale, or is reduced.
  template <class T>
  ColumnView<T> column(std::string_view name) const {
    const Values found = values(name);
    return found.scaled ? ColumnView<T>() : raw<T>(found);
  }
  // The same for a scaled column: the integers before offset and scale.
  template <class T>
  ColumnView<T> raw_column(std::string_view name) const {
    return raw<T>(values(name));
  }

 private:
  struct Span {
    std::uint64_t begin;
    std::uint64_t end;
  };

  template <class T>
  static ColumnView<T> raw(const Values &found) {
    if (!found || !found.known || found.reduced) return {};
    if (found.element != detail::ElementOf<T>::value) return {};
    return ColumnView<T>(found.data, found.bitmap, found.rows);
  }

  const std::uint8_t *describe(std::size_t index) const {
    return bytes_.data + header_ + index * descriptor_;
  }

  std::string_view name(std::size_t index) const {
    const std::uint8_t *at = describe(index);
    const auto *names = reinterpret_cast<const char *>(bytes_.data + names_);
    return std::string_view(names + detail::load<std::uint32_t>(at + 40),
                            detail::load<std::uint16_t>(at + 44));
  }

  std::size_t index(std::string_view wanted) const {
    std::size_t i = 0;
    while (i < columns_ && name(i) != wanted) ++i;
    return i;
  }

  Error check(std::size_t index, std::uint64_t head, std::uint64_t names) const {
    using detail::load;
    const auto number = static_cast<std::uint32_t>(index);
    const std::uint8_t *at = describe(index);
    const std::uint64_t name_begin = load<std::uint32_t>(at + 40);
    const std::uint64_t name_size = load<std::uint16_t>(at + 44);
    if (name_begin + name_size > names) return detail::fault(Fault::range, number);
    if (!detail::printable(name(index))) return detail::fault(Fault::name, number);
    const auto data = load<std::uint64_t>(at);
    const auto size = load<std::uint64_t>(at + 8);
    const auto presence = load<std::uint64_t>(at + 16);
    if (data > bytes_.size || size > bytes_.size - data) {
      return detail::fault(Fault::range, number, name(index));
    }
    if (data < head) return detail::fault(Fault::overlap, number, name(index));
    if (presence != 0) {
      const std::uint64_t bits = (std::uint64_t{rows_} + 7) / 8;
      if (presence > bytes_.size || bits > bytes_.size - presence) {
        return detail::fault(Fault::range, number, name(index));
      }
      if (presence < head) return detail::fault(Fault::overlap, number, name(index));
    }
    // Of an element type or flag of a later version nothing more is known.
    if (detail::is_known(at)) {
      const auto element = static_cast<Element>(at[46]);
      // Both factors are small: rows have been held against their limit.
      const bool reduced = (at[47] & detail::kReduced) != 0;
      if (!reduced && size != rows_ * std::uint64_t{size_of(element)}) {
        return detail::fault(Fault::range, number, name(index));
      }
      const auto offset = load<double>(at + 24);
      const auto scale = load<double>(at + 32);
      const bool scaled = (at[47] & detail::kScaled) != 0;
      if (scaled && (!is_integer(element) || scale == 0.0 || !std::isfinite(scale) ||
                     !std::isfinite(offset))) {
        return detail::fault(Fault::scale, number, name(index));
      }
      if (reduced) {
        const double resolution = scaled ? 0.0 : scale;
        if (element == Element::none) return detail::fault(Fault::element, number, name(index));
        if (resolution != 0.0 && !detail::is_resolution(element, resolution)) {
          return detail::fault(Fault::resolution, number, name(index));
        }
        const Bytes bytes = bytes_.part(data, static_cast<std::size_t>(size));
        if (!detail::Blocks{bytes, rows_, element, resolution}.check()) {
          return detail::fault(Fault::blocks, number, name(index));
        }
      }
    }
    return overlap(index, index) ? detail::fault(Fault::overlap, number, name(index)) : Error{};
  }

  // Elements and bitmap of a column.
  std::array<Span, 2> spans(std::size_t index) const {
    const std::uint8_t *at = describe(index);
    const auto data = detail::load<std::uint64_t>(at);
    const auto presence = detail::load<std::uint64_t>(at + 16);
    const std::uint64_t bits = presence == 0 ? 0 : (std::uint64_t{rows_} + 7) / 8;
    return {{{data, data + detail::load<std::uint64_t>(at + 8)}, {presence, presence + bits}}};
  }

  // Whether two columns share bytes; for a column and itself, its two parts.
  bool overlap(std::size_t left, std::size_t right) const {
    const auto shared = [](const Span &a, const Span &b) {
      return a.begin < a.end && b.begin < b.end && a.begin < b.end && b.begin < a.end;
    };
    const auto a = spans(left);
    const auto b = spans(right);
    if (left == right) return shared(a[0], a[1]);
    return shared(a[0], b[0]) || shared(a[0], b[1]) || shared(a[1], b[0]) || shared(a[1], b[1]);
  }

  Bytes bytes_;
  std::size_t rows_ = 0;
  std::size_t columns_ = 0;
  std::size_t header_ = 0;
  std::size_t descriptor_ = 0;
  std::size_t names_ = 0;
};

// ---- The field in its message ----

// The message at the root of the bytes.
enum class Root : std::uint8_t { sensor_view, sensor_data };

// What the rows are, and so in which message the field is.
enum class Kind : std::uint8_t {
  lidar_reflections,  // SensorView.lidar_sensor_view
  radar_reflections,  // SensorView.radar_sensor_view
  lidar_detections,   // SensorData.feature_data.lidar_sensor
  radar_detections,   // SensorData.feature_data.radar_sensor
};

namespace detail {

// The first four are the kinds.
enum class Level : std::uint8_t {
  lidar_reflections,
  radar_reflections,
  lidar_detections,
  radar_detections,
  sensor_view,
  sensor_data,
  feature_data,
  other,
};

constexpr std::uint32_t kRows = 2;  // reflection and detection alike

inline bool is_kind(Level level) { return level <= Level::radar_detections; }

inline Level level_of(Root root) {
  return root == Root::sensor_view ? Level::sensor_view : Level::sensor_data;
}

inline Level descend(Level level, std::uint32_t number) {
  switch (level) {
    case Level::sensor_view:
      if (number == 1001) return Level::radar_reflections;
      if (number == 1002) return Level::lidar_reflections;
      break;
    case Level::sensor_data:
      if (number == 8) return Level::sensor_view;
      if (number == 26) return Level::feature_data;
      break;
    case Level::feature_data:
      if (number == 2) return Level::radar_detections;
      if (number == 3) return Level::lidar_detections;
      break;
    default:
      break;
  }
  return Level::other;
}

// A field as it stands on the wire, a group as a whole.
struct Field {
  std::uint32_t number = 0;
  std::uint32_t type = 0;
  std::uint64_t value = 0;  // of types 0, 1 and 5
  Bytes content;            // of type 2
  std::size_t begin = 0;    // of the tag
  std::size_t end = 0;
};

// Reads the fields of a message one after the other.
class Fields {
 public:
  explicit Fields(Bytes bytes) : bytes_(bytes) {}

  // False at the end and at an error.
  bool next(Field &field) {
    if (at_ == bytes_.size || fault_ != Fault::none) return false;
    field = Field();
    field.begin = at_;
    if (!tag(field) || !(field.type == 3 ? group(field.number) : value(field))) {
      if (fault_ == Fault::none) fault_ = Fault::wire;
      return false;
    }
    field.end = at_;
    return true;
  }

  Error error() const { return Error{fault_}; }

 private:
  bool varint(std::uint64_t &value, std::size_t most) {
    value = 0;
    for (std::size_t i = 0; i < most && at_ < bytes_.size; ++i) {
      const std::uint8_t byte = bytes_.data[at_++];
      value |= std::uint64_t{byte & 0x7fu} << (7 * i);
      if (byte < 0x80) return true;
    }
    return false;
  }

  bool tag(Field &field) {
    std::uint64_t tag = 0;
    if (!varint(tag, 5) || tag > 0xffffffff) return false;
    field.number = static_cast<std::uint32_t>(tag >> 3);
    field.type = static_cast<std::uint32_t>(tag & 7);
    return field.number != 0;
  }

  bool value(Field &field) {
    const std::size_t left = bytes_.size - at_;
    switch (field.type) {
      case 0:
        return varint(field.value, 10);
      case 1:
        if (left < 8) return false;
        field.value = load<std::uint64_t>(bytes_.data + at_);
        at_ += 8;
        return true;
      case 2: {
        std::uint64_t size = 0;
        if (!varint(size, 10) || size > bytes_.size - at_) return false;
        field.content = bytes_.part(at_, static_cast<std::size_t>(size));
        at_ += static_cast<std::size_t>(size);
        return true;
      }
      case 5:
        if (left < 4) return false;
        field.value = load<std::uint32_t>(bytes_.data + at_);
        at_ += 4;
        return true;
      default:
        return false;  // a group's end without its beginning, and what is no type
    }
  }

  // Skips to behind the end of a group that has begun.
  bool group(std::uint32_t number) {
    std::array<std::uint32_t, 100> open{};
    std::size_t depth = 0;
    open[depth++] = number;
    while (depth != 0) {
      Field field;
      if (!tag(field)) return false;
      if (field.type == 3) {
        if (depth == open.size()) {
          fault_ = Fault::depth;
          return false;
        }
        open[depth++] = field.number;
      } else if (field.type == 4) {
        if (open[--depth] != field.number) return false;
      } else if (!value(field)) {
        return false;
      }
    }
    return true;
  }

  Bytes bytes_;
  std::size_t at_ = 0;
  Fault fault_ = Fault::none;
};

inline std::size_t varint_size(std::uint64_t value) {
  std::size_t size = 1;
  while (value >= 0x80) {
    value >>= 7;
    ++size;
  }
  return size;
}

inline std::uint8_t *put_varint(std::uint8_t *out, std::uint64_t value) {
  while (value >= 0x80) {
    *out++ = static_cast<std::uint8_t>(value | 0x80);
    value >>= 7;
  }
  *out++ = static_cast<std::uint8_t>(value);
  return out;
}

inline std::uint64_t tag(std::uint32_t number, std::uint32_t type) {
  return std::uint64_t{number} << 3 | type;
}

}  // namespace detail

// A LidarSensorView, RadarSensorView, LidarDetectionData or RadarDetectionData.
struct Found {
  Kind kind = Kind::lidar_reflections;
  Bytes message;         // it
  bool packed = false;   // whether it has the packed field
  Bytes field;           // the packed field; of several the last, as Protobuf has it
  std::size_t rows = 0;  // sub-messages
};

namespace detail {

template <class Visit>
Error find(Level level, Bytes bytes, Visit &visit) {
  Fields fields(bytes);
  Field field;
  Found found;
  found.message = bytes;
  while (fields.next(field)) {
    if (field.type != 2) continue;
    if (is_kind(level)) {
      if (field.number == kRows) ++found.rows;
      if (field.number == kField) {
        found.packed = true;
        found.field = field.content;
      }
    } else if (const Level inner = descend(level, field.number); inner != Level::other) {
      if (Error error = find(inner, field.content, visit)) return error;
    }
  }
  if (is_kind(level) && fields.error().fault == Fault::none) {
    found.kind = static_cast<Kind>(level);
    visit(static_cast<const Found &>(found));
  }
  return fields.error();
}

}  // namespace detail

// Calls visit(const Found &) for each view and each sensor's detections, in the
// message's order, those of SensorData.sensor_view included. Bytes that are not
// Protobuf end it with an error; views before them have been visited then.
template <class Visit>
Error find(Root root, Bytes message, Visit &&visit) {
  return detail::find(detail::level_of(root), message, visit);
}

// Opens the first packed field of a kind. The view is empty where the message
// has none.
inline Error first(Root root, Bytes message, Kind kind, View &out) {
  Bytes field;
  bool packed = false;
  const Error error = find(root, message, [&](const Found &found) {
    if (packed || !found.packed || found.kind != kind) return;
    packed = true;
    field = found.field;
  });
  if (error) return error;
  out = View();
  return packed ? View::open(field, out) : Error{};
}

namespace detail {

// A message in parts, so that all lengths are known before a byte is written.
struct Part {
  Bytes bytes;               // as they are, where number is 0
  std::uint32_t number = 0;  // a nested message, or the packed field
  std::size_t layout = kNone;
  std::vector<Part> parts{};
  std::uint64_t size = 0;  // without tag and length
  std::uint64_t at = 0;    // in the whole message

  static constexpr std::size_t kNone = static_cast<std::size_t>(-1);
};

inline std::uint64_t framed(const Part &part) {
  if (part.number == 0) return part.size;
  return varint_size(tag(part.number, 2)) + varint_size(part.size) + part.size;
}

inline std::uint64_t measure(std::vector<Part> &parts, const std::vector<Layout> &layouts) {
  std::uint64_t total = 0;
  for (Part &part : parts) {
    if (part.layout != Part::kNone) {
      part.size = layouts[part.layout].size();
    } else {
      part.size = part.number == 0 ? part.bytes.size : measure(part.parts, layouts);
    }
    total += framed(part);
  }
  return total;
}

// Whether a table has moved, so that lengths must be measured again.
inline bool place(std::vector<Part> &parts, std::vector<Layout> &layouts, std::uint64_t at) {
  bool moved = false;
  for (Part &part : parts) {
    part.at = at + framed(part) - part.size;
    at = part.at + part.size;
    if (part.layout != Part::kNone) {
      Layout &layout = layouts[part.layout];
      layout.move(part.at);
      moved = layout.size() != part.size || moved;
    } else if (part.number != 0) {
      moved = place(part.parts, layouts, part.at) || moved;
    }
  }
  return moved;
}

// Settles lengths and alignment; the size of it all.
inline std::uint64_t settle(std::vector<Part> &parts, std::vector<Layout> &layouts) {
  for (Layout &layout : layouts) layout.loosen();
  std::uint64_t total = measure(parts, layouts);
  while (place(parts, layouts, 0)) total = measure(parts, layouts);
  return total;
}

// Writes everything but the columns' elements.
inline void write(const std::vector<Part> &parts, const std::vector<Layout> &layouts,
                  std::vector<Table> &tables, std::uint8_t *out) {
  for (const Part &part : parts) {
    std::uint8_t *at = out + part.at;
    if (part.number == 0) {
      if (part.bytes.data != nullptr && part.size != 0) {
        std::memcpy(at, part.bytes.data, part.bytes.size);
      }
      continue;
    }
    put_varint(at - varint_size(part.size), part.size);
    const std::uint64_t head = tag(part.number, 2);
    put_varint(at - varint_size(part.size) - varint_size(head), head);
    if (part.layout != Part::kNone) {
      tables[part.layout] = layouts[part.layout].write(at);
    } else {
      write(part.parts, layouts, tables, out);
    }
  }
}

}  // namespace detail

// A whole SensorView or SensorData around packed fields, in one buffer:
//
//   Message message(Root::sensor_view, rest);     // serialized by any library
//   message.add(Kind::lidar_reflections, {{"signal_strength"}, {"time_of_flight"}}, rows,
//               configuration);
//   if (Error error = message.plan()) …
//   std::vector<std::uint8_t> buffer(message.size());
//   message.write(buffer.data(), buffer.size());
//   auto strength = message.table(0).column<double>("signal_strength");
//
// All bytes that are given must live until write() has copied them. Allocates.
class Message {
 public:
  // `rest` are the other fields of the message; Bytes::room() leaves room for
  // them at the beginning of the buffer.
  explicit Message(Root root, Bytes rest = {}) : root_(root) {
    detail::Part part;
    part.bytes = rest;
    parts_.push_back(part);
  }
  // The tables point to the layouts in here.
  Message(const Message &) = delete;
  Message &operator=(const Message &) = delete;

  // Adds a LidarSensorView, RadarSensorView, LidarDetectionData or
  // RadarDetectionData. `rest` are its other fields, such as view_configuration
  // or header, serialized. Names are copied.
  Error add(Kind kind, const std::vector<Column> &columns, std::uint64_t rows, Bytes rest = {},
            std::size_t alignment = 64) {
    const bool detections = kind == Kind::lidar_detections || kind == Kind::radar_detections;
    if (detections != (root_ == Root::sensor_data)) return detail::fault(Fault::kind);
    Layout layout;
    if (Error error = layout.plan(columns, rows, 0, alignment)) return error;
    layouts_.push_back(std::move(layout));
    detail::Part other;
    other.bytes = rest;
    detail::Part table;
    table.number = kField;
    table.layout = layouts_.size() - 1;
    detail::Part inner;
    inner.parts = {other, table};
    constexpr std::uint32_t numbers[] = {1002, 1001, 3, 2};
    inner.number = numbers[static_cast<std::size_t>(kind)];
    if (detections && parts_.size() == 1) {
      detail::Part feature;
      feature.number = 26;
      parts_.push_back(feature);
    }
    (detections ? parts_[1].parts : parts_).push_back(std::move(inner));
    return {};
  }

  // Settles all lengths. The columns lie aligned from the message's beginning.
  Error plan() {
    const std::uint64_t size = detail::settle(parts_, layouts_);
    size_ = size > kMaximumSize ? 0 : static_cast<std::size_t>(size);
    return size > kMaximumSize ? detail::fault(Fault::limit) : Error{};
  }

  std::size_t size() const { return size_; }

  // Writes everything but the columns' elements, which table() gives to fill.
  Error write(std::uint8_t *out, std::size_t size) {
    if (size != size_ || size_ == 0) return detail::fault(Fault::buffer);
    tables_.assign(layouts_.size(), Table());
    detail::write(parts_, layouts_, tables_, out);
    return {};
  }

  // The tables in the order of add(), once written.
  Table table(std::size_t index) const { return index < tables_.size() ? tables_[index] : Table(); }

  // Where the `rest` of a table's message begins in the buffer.
  std::size_t rest(std::size_t index) const {
    const std::vector<detail::Part> &all = root_ == Root::sensor_data ? parts_[1].parts : parts_;
    const std::size_t before = root_ == Root::sensor_data ? 0 : 1;
    return static_cast<std::size_t>(all[index + before].parts[0].at);
  }

 private:
  Root root_;
  std::vector<detail::Part> parts_;
  std::vector<Layout> layouts_;
  std::vector<Table> tables_;
  std::size_t size_ = 0;
};

inline std::string Error::message() const {
  const auto column = [&] {
    return name.empty() ? "column " + std::to_string(number) : "column '" + name + "'";
  };
  switch (fault) {
    case Fault::none:
      return "no error";
    case Fault::truncated:
      return "the packed field is cut short";
    case Fault::magic:
      return "this is not a packed field";
    case Fault::version:
      return "the packed field has major version " + std::to_string(number) +
             ", which this reader does not know";
    case Fault::header:
      return "the packed field's header or descriptors are too short";
    case Fault::limit:
      return "more bytes, rows, columns or alignment than a packed field may have";
    case Fault::name:
      return "the name of " + column() + " is empty, too long or not printable ASCII";
    case Fault::duplicate:
      return column() + " occurs twice";
    case Fault::range:
      return column() + " does not fit into the packed field";
    case Fault::overlap:
      return column() + " overlaps other parts of the packed field";
    case Fault::scale:
      return column() + " has a scale that is zero, not finite, or not on an integer";
    case Fault::wire:
      return "the message is not in Protobuf's wire format";
    case Fault::depth:
      return "the message has groups nested too deep";
    case Fault::unknown:
      return "field " + std::to_string(number) + " of '" + name +
             "' has no column, so it would be lost";
    case Fault::foreign:
      return "OSI has no field for " + column() + ", so it would be lost";
    case Fault::both:
      return "a message has both rows and a packed field";
    case Fault::element:
      return column() + " cannot have this element type";
    case Fault::value:
      return "a value of " + column() + " is out of its element type's range";
    case Fault::kind:
      return "reflections belong into a SensorView and detections into SensorData";
    case Fault::buffer:
      return "the size of the buffer differs from the planned size";
    case Fault::resolution:
      return "the resolution of " + column() +
             " is not a positive number, or the column is not f64 or f32";
    case Fault::steps:
      return "a value of " + column() + " is 2^51 of its resolution or more away from 0";
    case Fault::blocks:
      return "the blocks of " + column() + " do not have its number of rows";
    case Fault::preset:
      return "preset " + std::to_string(number) + " is none of " + name;
  }
  return "unknown error";
}

}  // namespace wiregauge::packed
