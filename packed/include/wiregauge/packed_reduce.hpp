// Reducing columns of the packed field (docs/packed.md): to a resolution, or
// without loss.
//
//   Reduced strength;
//   Reduction how;
//   how.resolution = 0.1;  // dB
//   if (Error error = reduce("signal_strength", values, rows, nullptr, how, strength)) …
//   layout.plan({strength.column("signal_strength")}, rows);
//   layout.write(buffer).put(0, strength.bytes);
//
// The compiler must keep to IEEE 754: no -ffast-math.
#pragma once

#include <optional>

#include "wiregauge/packed.hpp"

namespace wiregauge::packed {

// How a column is reduced.
struct Reduction {
  // In the column's unit: no value changes by more than half of it. Without one
  // every bit is kept.
  std::optional<double> resolution{};
  // Whether widths are whole bytes. That is larger by itself, and smaller where
  // the whole is compressed afterwards.
  bool whole_bytes = false;
};

// A column's elements, reduced.
struct Reduced {
  Element element = Element::none;
  double resolution = 0.0;  // 0 where every bit is kept
  std::vector<std::uint8_t> bytes{};
  double error = 0.0;  // the largest difference that it made, in the column's unit

  // The column to plan; put() writes the bytes.
  Column column(std::string_view name, bool optional = false) const {
    Column out{name, element, optional};
    out.reduced = true;
    out.resolution = resolution;
    out.size = bytes.size();
    return out;
  }
};

namespace detail {

using Buffer = std::vector<std::uint8_t>;

template <std::size_t kWidth>
void pack_eight(const std::uint64_t *numbers, std::uint8_t *out) {
  std::uint64_t words[9] = {};
  for (std::size_t i = 0; i < 8; ++i) {
    const std::size_t bit = i * kWidth;
    words[bit / 64] |= numbers[i] << bit % 64;
    if (bit % 64 + kWidth > 64) words[bit / 64 + 1] |= numbers[i] >> (64 - bit % 64) % 64;
  }
  std::memcpy(out, words, kWidth);
}

template <std::size_t kWidth>
void pack_all(const std::uint64_t *numbers, std::size_t count, std::uint8_t *out) {
  if constexpr (kWidth != 0) {
    for (; count >= 8; count -= 8, numbers += 8, out += kWidth) pack_eight<kWidth>(numbers, out);
    if (count == 0) return;
    std::uint64_t last[8] = {};
    std::copy(numbers, numbers + count, last);
    std::uint8_t bytes[kWidth];
    pack_eight<kWidth>(last, bytes);
    std::memcpy(out, bytes, packed_size(count, kWidth));
  }
}

template <std::size_t... kWidths>
void pack_width(std::size_t width, const std::uint64_t *numbers, std::size_t count,
                std::uint8_t *out, std::index_sequence<kWidths...>) {
  using Call = void (*)(const std::uint64_t *, std::size_t, std::uint8_t *);
  static constexpr Call calls[] = {pack_all<kWidths>...};
  calls[width](numbers, count, out);
}

// Appends numbers of so many bits; higher ones must be 0.
inline void pack_bits(const std::uint64_t *numbers, std::size_t width, std::size_t count,
                      Buffer &out) {
  const std::size_t begin = out.size();
  out.resize(begin + packed_size(count, width));
  pack_width(width, numbers, count, out.data() + begin, std::make_index_sequence<65>());
}

template <class T>
void append(Buffer &out, T value) {
  const std::size_t begin = out.size();
  out.resize(begin + sizeof(T));
  store(out.data() + begin, value);
}

// Below this a double has room for a fraction, and adding kRound rounds.
constexpr double kMost = 2251799813685248.0;
constexpr double kRound = 3 * kMost;

inline std::int64_t bits_of(double value) {
  std::int64_t bits = 0;
  std::memcpy(&bits, &value, 8);
  return bits;
}

inline std::int64_t minus(std::int64_t a, std::int64_t b) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(a) - static_cast<std::uint64_t>(b));
}

// An element's bits, the highest of a signed type or a float repeated above.
template <class T>
std::int64_t element_bits(T value) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<std::int64_t>(value);
  } else {
    typename BitsOf<sizeof(T)>::Type bits = 0;
    std::memcpy(&bits, &value, sizeof(T));
    return static_cast<std::make_signed_t<decltype(bits)>>(bits);
  }
}

inline std::size_t length(std::uint64_t code) {
#if defined(__GNUC__)
  return code == 0 ? 0 : 64 - static_cast<std::size_t>(__builtin_clzll(code));
#else
  std::size_t out = 0;
  for (; code != 0; code >>= 1) ++out;
  return out;
#endif
}

// A number's difference to the one before, its sign as its lowest bit.
inline std::uint64_t difference(std::int64_t before, std::int64_t number) {
  const auto difference = static_cast<std::uint64_t>(number) - static_cast<std::uint64_t>(before);
  return difference << 1 ^ (~(difference >> 63) + 1);
}

// The smallest layers for codes of these lengths, of several the first. Widths
// are multiples of the step.
inline Layers choose_layers(const std::array<std::size_t, 65> &lengths, std::size_t step) {
  std::array<std::size_t, 65> longer{};  // codes that are longer
  for (std::size_t width = 64; width-- > 0;) longer[width] = longer[width + 1] + lengths[width + 1];
  const std::size_t rows = longer[0] + lengths[0];
  std::size_t longest = 64;
  while (longest > 0 && lengths[longest] == 0) --longest;
  const std::size_t most = align_up(longest, step);
  Layers best{{most, 0, 0}, {rows, 0, 0}};
  std::size_t size = best.size();
  for (std::size_t first = 0; first < most; first += step) {
    const std::size_t second = longer[first];
    const std::size_t lowest = packed_size(rows, first) + places_size(rows, second);
    if (lowest >= size) continue;
    const std::size_t two = lowest + packed_size(second, most - first);
    if (two < size) {
      best = {{first, most - first, 0}, {rows, second, 0}};
      size = two;
    }
    for (std::size_t both = first + step; both < most; both += step) {
      const std::size_t third = longer[both];
      const std::size_t three = lowest + packed_size(second, both - first) +
                                places_size(second, third) + packed_size(third, most - both);
      if (three < size) {
        best = {{first, both - first, most - both}, {rows, second, third}};
        size = three;
      }
    }
  }
  return best;
}

// How numbers are to be kept.
struct Plan {
  bool differences = false;
  std::int64_t base = 0;
  Layers layers;

  // The smaller of two: above the smallest number, or as differences.
  Plan(const std::int64_t *numbers, std::size_t rows, std::size_t step) {
    const std::int64_t smallest = *std::min_element(numbers, numbers + rows);
    // Two counts each, in turn: neighbours are often of one length, and would wait
    // for one another.
    std::array<std::size_t, 65> above{};
    std::array<std::size_t, 65> steps{};
    std::array<std::size_t, 65> odd_above{};
    std::array<std::size_t, 65> odd_steps{};
    std::int64_t before = numbers[0];
    for (std::size_t row = 0; row < rows; ++row) {
      ++(row % 2 == 0
             ? above
             : odd_above)[length(static_cast<std::uint64_t>(minus(numbers[row], smallest)))];
      ++(row % 2 == 0 ? steps : odd_steps)[length(difference(before, numbers[row]))];
      before = numbers[row];
    }
    for (std::size_t at = 0; at < above.size(); ++at) {
      above[at] += odd_above[at];
      steps[at] += odd_steps[at];
    }
    layers = choose_layers(above, step);
    const Layers other = choose_layers(steps, step);
    differences = other.size() < layers.size();
    if (differences) layers = other;
    base = differences ? numbers[0] : smallest;
  }

  void write(const std::int64_t *numbers, std::size_t rows, Buffer &out) const {
    std::array<std::uint64_t, kBlock> codes;
    std::int64_t before = base;
    for (std::size_t row = 0; row < rows; ++row) {
      codes[row] = differences ? difference(before, numbers[row])
                               : static_cast<std::uint64_t>(minus(numbers[row], base));
      before = numbers[row];
    }
    std::array<std::uint64_t, kBlock> second;
    split(codes.data(), rows, layers.widths[0], layers.counts[1], second.data(), out);
    std::array<std::uint64_t, kBlock> third;
    split(second.data(), layers.counts[1], layers.widths[1], layers.counts[2], third.data(), out);
    pack_bits(third.data(), layers.widths[2], layers.counts[2], out);
  }

 private:
  // Writes the lowest bits of all, and which of them go on above.
  static void split(std::uint64_t *codes, std::size_t count, std::size_t width, std::size_t next,
                    std::uint64_t *above, Buffer &out) {
    if (next == 0) return pack_bits(codes, width, count, out);
    // Without a branch: which of them go on is anybody's guess.
    std::array<std::uint64_t, kBlock / 64> places{};
    const std::uint64_t mask = (std::uint64_t{1} << width) - 1;
    std::size_t at = 0;
    for (std::size_t row = 0; row < count; ++row) {
      const std::uint64_t rest = codes[row] >> width;
      above[at] = rest;
      at += rest != 0;
      places[row / 64] |= std::uint64_t{rest != 0} << row % 64;
      codes[row] &= mask;
    }
    pack_bits(codes, width, count, out);
    if (!is_listed(count, next)) {
      const auto *bytes = reinterpret_cast<const std::uint8_t *>(places.data());
      out.insert(out.end(), bytes, bytes + places_size(count, next));
      return;
    }
    for (std::size_t row = 0; row < count; ++row) {
      if ((places[row / 64] >> row % 64 & 1) != 0) append(out, static_cast<std::uint16_t>(row));
    }
  }
};

// One block of elements, while its numbers are being found. What is computed and
// then used again goes through arrays: a compiler that fuses a product and a sum
// would decide otherwise than others.
template <class T>
class BlockWriter {
 public:
  BlockWriter(const T *values, std::size_t rows, const std::uint8_t *bitmap)
      : values_(values), rows_(rows), bitmap_(bitmap) {
    for (std::size_t row = 0; row < rows; ++row) all_ = all_ && has(row);
  }

  // Appends the block; false where a value is too large for the resolution.
  bool write(const Reduction &how, Buffer &out, double &error) {
    const std::size_t step = how.whole_bytes ? 8 : 1;
    Form form = Form::bits;
    std::size_t detail = 0;
    bool found = false;
    double made = 0.0;
    if constexpr (std::is_floating_point_v<T>) {
      if (how.resolution) {
        if (!steps(*how.resolution, made)) return false;
        form = Form::steps;
        found = true;
      } else {
        found = decimal(detail);
        form = Form::decimal;
      }
    }
    std::optional<Plan> plan;
    if (found) plan.emplace(numbers_.data(), rows_, step);
    if (!found || !how.resolution || !plain_.empty()) {
      const auto kept = numbers_;
      const std::size_t shift = bits();
      const Plan other(numbers_.data(), rows_, step);
      const std::size_t plain = plain_.size() * (2 + sizeof(T));
      if (!found || other.layers.size() < plan->layers.size() + plain) {
        plan = other;
        form = Form::bits;
        detail = shift;
        made = 0.0;
        plain_.clear();
      } else {
        numbers_ = kept;
      }
    }
    error = made > error ? made : error;
    out.insert(out.end(), {static_cast<std::uint8_t>(form), plan->differences,
                           static_cast<std::uint8_t>(detail)});
    for (std::size_t width : plan->layers.widths) out.push_back(static_cast<std::uint8_t>(width));
    append(out, static_cast<std::uint16_t>(plan->layers.counts[1]));
    append(out, static_cast<std::uint16_t>(plan->layers.counts[2]));
    append(out, static_cast<std::uint16_t>(plain_.size()));
    append(out, plan->base);
    plan->write(numbers_.data(), rows_, out);
    for (std::uint16_t row : plain_) append(out, row);
    for (std::uint16_t row : plain_) append(out, values_[row]);
    return true;
  }

 private:
  bool has(std::size_t row) const {
    return bitmap_ == nullptr || (bitmap_[row / 8] >> row % 8 & 1) != 0;
  }

  // Numbers of resolutions.
  bool steps(double resolution, double &largest) {
    std::array<double, kBlock> steps;
    std::array<T, kBlock> back;
    for (std::size_t row = 0; row < rows_; ++row) {
      steps[row] = static_cast<double>(values_[row]) / resolution;
      const double rounded = steps[row] + kRound;
      numbers_[row] = minus(bits_of(rounded), bits_of(kRound));
      back[row] = static_cast<T>((rounded - kRound) * resolution);
    }
    const double half = resolution / 2.0;
    if (all_ && all_fit(steps.data(), back.data(), half, largest)) return true;
    largest = 0.0;
    bool full = true;
    for (std::size_t row = 0; row < rows_; ++row) {
      const double value = static_cast<double>(values_[row]);
      const double error = std::fabs(static_cast<double>(back[row]) - value);
      const bool present = has(row);
      if (present && std::isfinite(value) && !(std::fabs(steps[row]) < kMost)) return false;
      const bool fits = present && error <= half;
      holes_[row] = !fits;
      full = full && fits;
      if (fits && error > largest) largest = error;
      if (present && !fits) plain_.push_back(static_cast<std::uint16_t>(row));
    }
    if (!full) fill();
    return true;
  }

  // Whether there is nothing but numbers, none too large; the largest error. In
  // lanes, as the largest of doubles in a row is one that a compiler must find one
  // by one.
  bool all_fit(const double *steps, const T *back, double half, double &largest) const {
    constexpr std::size_t kLanes = 8;
    double most[kLanes] = {};
    unsigned fits[kLanes] = {1, 1, 1, 1, 1, 1, 1, 1};
    const auto take = [&](std::size_t row, std::size_t lane) {
      const double value = static_cast<double>(values_[row]);
      const double error = std::fabs(static_cast<double>(back[row]) - value);
      fits[lane] &= static_cast<unsigned>(error <= half) &
                    static_cast<unsigned>(std::fabs(steps[row]) < kMost);
      most[lane] = error > most[lane] ? error : most[lane];
    };
    std::size_t row = 0;
    for (; row + kLanes <= rows_; row += kLanes) {
      for (std::size_t lane = 0; lane < kLanes; ++lane) take(row + lane, lane);
    }
    for (; row < rows_; ++row) take(row, row % kLanes);
    largest = *std::max_element(most, most + kLanes);
    return std::count(fits, fits + kLanes, 1u) == kLanes;
  }

  // Numbers of tenths, hundredths and so on, where half of a sample are some.
  bool decimal(std::size_t &power) {
    constexpr std::size_t kSample = 32;
    std::array<T, kSample> sample;
    std::size_t size = 0;
    const std::size_t wanted = rows_ < kSample ? rows_ : kSample;
    for (std::size_t i = 0; i < wanted; ++i) {
      const std::size_t row = i * rows_ / wanted;
      if (has(row)) sample[size++] = values_[row];
    }
    std::array<std::int64_t, kBlock> numbers;
    std::array<bool, kBlock> same;
    std::size_t best = 0;
    for (std::size_t at = 0; at < 23; ++at) {
      decimals(sample.data(), size, kPowers[at], numbers.data(), same.data());
      const auto hits =
          static_cast<std::size_t>(std::count(same.begin(), same.begin() + size, true));
      if (hits > best) {
        best = hits;
        power = at;
      }
      if (hits == size) break;
    }
    if (best == 0 || 2 * best < size) return false;
    decimals(values_, rows_, kPowers[power], numbers_.data(), same.data());
    bool full = true;
    for (std::size_t row = 0; row < rows_; ++row) {
      holes_[row] = !(same[row] && has(row));
      full = full && !holes_[row];
      if (!same[row] && has(row)) plain_.push_back(static_cast<std::uint16_t>(row));
    }
    if (!full) fill();
    return true;
  }

  static void decimals(const T *values, std::size_t count, double power, std::int64_t *numbers,
                       bool *same) {
    std::array<double, kBlock> products;
    for (std::size_t i = 0; i < count; ++i) products[i] = static_cast<double>(values[i]) * power;
    for (std::size_t i = 0; i < count; ++i) {
      const double rounded = products[i] + kRound;
      numbers[i] = minus(bits_of(rounded), bits_of(kRound));
      const T back = static_cast<T>((rounded - kRound) / power);
      same[i] = element_bits(back) == element_bits(values[i]) && std::fabs(products[i]) < kMost;
    }
  }

  // Bits in the order of the values, without the lowest ones that are 0 in all;
  // gives how many.
  std::size_t bits() {
    std::uint64_t any = 0;
    for (std::size_t row = 0; row < rows_; ++row) {
      holes_[row] = !has(row);
      if (!holes_[row]) any |= static_cast<std::uint64_t>(element_bits(values_[row]));
    }
    const std::size_t shift = any == 0 ? 0 : length(any & (~any + 1)) - 1;
    for (std::size_t row = 0; row < rows_; ++row) {
      numbers_[row] = turn<T>(element_bits(values_[row]) >> shift, shift);
    }
    if (!all_) fill();
    return shift;
  }

  // Holes take the number before them, the first ones the first that there is.
  void fill() {
    std::size_t first = 0;
    while (first < rows_ && holes_[first]) ++first;
    std::int64_t last = first < rows_ ? numbers_[first] : 0;
    for (std::size_t row = 0; row < rows_; ++row) {
      if (holes_[row]) numbers_[row] = last;
      last = numbers_[row];
    }
  }

  const T *values_;
  std::size_t rows_;
  const std::uint8_t *bitmap_;
  bool all_ = true;
  std::array<std::int64_t, kBlock> numbers_;
  std::array<bool, kBlock> holes_;
  std::vector<std::uint16_t> plain_;
};

}  // namespace detail

// Reduces the elements of all rows. Of an optional column `bitmap` is its
// presence; absent rows take what is before them. Refused, with the name: a
// resolution that is no positive number or on neither f64 nor f32 (resolution), a
// value that is 2^51 resolutions or more away from 0 (steps). Allocates.
template <class T>
Error reduce(std::string_view name, const T *values, std::size_t rows, const std::uint8_t *bitmap,
             const Reduction &how, Reduced &out) {
  out = Reduced{detail::ElementOf<T>::value, how.resolution.value_or(0.0)};
  if (how.resolution && !detail::is_resolution(out.element, *how.resolution)) {
    return detail::fault(Fault::resolution, 0, name);
  }
  const std::size_t index = (rows + detail::kBlock - 1) / detail::kBlock * detail::kEntry;
  out.bytes.resize(index);
  for (std::size_t row = 0; row < rows; row += detail::kBlock) {
    const std::size_t count = rows - row < detail::kBlock ? rows - row : detail::kBlock;
    detail::BlockWriter<T> block(values + row, count,
                                 bitmap == nullptr ? bitmap : bitmap + row / 8);
    if (!block.write(how, out.bytes, out.error)) {
      out = Reduced();
      return detail::fault(Fault::steps, 0, name);
    }
    detail::store(out.bytes.data() + row / detail::kBlock * detail::kEntry,
                  static_cast<std::uint32_t>(out.bytes.size() - index));
  }
  return {};
}

}  // namespace wiregauge::packed
