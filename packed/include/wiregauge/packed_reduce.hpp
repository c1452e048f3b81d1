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

#include <limits>
#include <memory>
#include <optional>

#include "wiregauge/packed_codes.hpp"

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

// How the numbers of a block are kept.
struct Choice {
  Form form = Form::bits;
  std::size_t detail = 0;
  bool differences = false;
  std::int64_t base = 0;
  Layers layers;
};

// Blocks of elements, while their numbers are being found. What is computed and
// then used again goes through arrays: a compiler that fuses a product and a sum
// would decide otherwise than others.
template <class T>
class BlockWriter {
 public:
  // Appends a block; false where a value is too large for the resolution.
  bool write(const T *values, std::size_t rows, const std::uint8_t *bitmap, const Reduction &how,
             Buffer &out, double &error) {
    begin(values, rows, bitmap);
    const std::size_t step = how.whole_bytes ? 8 : 1;
    Choice choice;
    std::size_t size = ~std::size_t{0};
    bool found = false;
    bool again = false;  // whether codes are those of other numbers
    double made = 0.0;
    if constexpr (std::is_floating_point_v<T>) {
      if (how.resolution) {
        if (!steps(*how.resolution, made)) return false;
        choice.form = Form::steps;
        found = true;
      } else {
        found = decimal(choice.detail);
        choice.form = Form::decimal;
      }
    }
    if (found) choose(numbers_, step, choice, size);
    if (!found || !how.resolution || !plain_.empty()) {
      if (found) size += plain_.size() * (2 + sizeof(T));
      Choice other;
      other.detail = bits();
      again = found;
      if (choose(bits_, step, other, size)) {
        choice = other;
        made = 0.0;
        plain_.clear();
        again = false;
      }
    }
    if (again) find(numbers_);
    error = made > error ? made : error;
    out.insert(out.end(), {static_cast<std::uint8_t>(choice.form), choice.differences,
                           static_cast<std::uint8_t>(choice.detail)});
    for (std::size_t width : choice.layers.widths) out.push_back(static_cast<std::uint8_t>(width));
    append(out, static_cast<std::uint16_t>(choice.layers.counts[1]));
    append(out, static_cast<std::uint16_t>(choice.layers.counts[2]));
    append(out, static_cast<std::uint16_t>(plain_.size()));
    append(out, choice.base);
    if (narrow_) {
      low_codes_.write(choice.differences, choice.layers, out);
    } else {
      codes_.write(choice.differences, choice.layers, out);
    }
    for (std::uint16_t row : plain_) append(out, row);
    for (std::uint16_t row : plain_) append(out, values_[row]);
    return true;
  }

 private:
  void begin(const T *values, std::size_t rows, const std::uint8_t *bitmap) {
    values_ = values;
    rows_ = rows;
    bitmap_ = bitmap;
    all_ = true;
    for (std::size_t row = 0; bitmap != nullptr && row < rows; ++row) all_ = all_ && has(row);
    plain_.clear();
    if (rows % kTogether == 0) return;
    // Loops take more than there are.
    std::copy(values, values + rows, padded_.begin());
    std::fill(padded_.begin() + rows, padded_.begin() + align_up(rows, kTogether), values[0]);
    values_ = padded_.data();
  }

  bool has(std::size_t row) const {
    return bitmap_ == nullptr || (bitmap_[row / 8] >> row % 8 & 1) != 0;
  }

  std::array<std::size_t, 2> find(const Numbers &numbers) {
    narrow_ = numbers.narrow;
    const auto smallest = static_cast<std::uint64_t>(numbers.smallest);
    return narrow_
               ? low_codes_.find(numbers.low.data(), static_cast<std::uint32_t>(smallest), rows_)
               : codes_.find(numbers.all.data(), smallest, rows_);
  }

  // The smaller of two, above the smallest number or as differences, if it takes less
  // than `size` bytes.
  bool choose(const Numbers &numbers, std::size_t step, Choice &out, std::size_t &size) {
    const std::array<std::size_t, 2> bits = find(numbers);
    bool found = false;
    // What is likely to be smaller goes first: it bounds the other one.
    const bool likely = bits[1] < bits[0];
    for (const bool differences : {likely, !likely}) {
      // Without differences where they tie.
      std::size_t below = size + (found && !differences ? 1 : 0);
      if ((bits[differences ? 1 : 0] + 7) / 8 >= below) continue;
      const auto count = [&](const auto &ways) {
        return (differences ? ways.steps : ways.above).count(rows_);
      };
      const Lengths lengths = narrow_ ? count(low_codes_) : count(codes_);
      if (!lengths.choose(step, out.layers, below)) continue;
      size = below;
      out.differences = differences;
      out.base = differences ? numbers.first : numbers.smallest;
      found = true;
    }
    return found;
  }

  // Numbers of resolutions.
  bool steps(double resolution, double &largest) {
    for (std::size_t row = 0; row < rows_; row += kTogether) {
      round_all(values_ + row, resolution, &rounded_[row], &back_[row]);
    }
    const double half = resolution / 2.0;
    if (all_ && all_fit(half, largest)) {
      if (!numbers_.narrow) {
        for (std::size_t row = 0; row < rows_; ++row) numbers_.all[row + 1] = number(rounded_[row]);
        numbers_.take(rows_);
      }
      return true;
    }
    largest = 0.0;
    for (std::size_t row = 0; row < rows_; ++row) {
      const double value = static_cast<double>(values_[row]);
      const double error = std::fabs(static_cast<double>(back_[row]) - value);
      const bool present = has(row);
      if (present && std::isfinite(value) && !(std::fabs(value / resolution) < kMost)) return false;
      const bool fits = present && error <= half;
      numbers_.all[row + 1] = number(rounded_[row]);
      holes_[row] = !fits;
      if (fits && error > largest) largest = error;
      if (present && !fits) plain_.push_back(static_cast<std::uint16_t>(row));
    }
    fill(numbers_);
    return true;
  }

  static void round_all(const T *__restrict values, double resolution, double *__restrict rounded,
                        T *__restrict back) {
    for (std::size_t i = 0; i < kTogether; ++i) {
      rounded[i] = static_cast<double>(values[i]) / resolution + kRound;
    }
    for (std::size_t i = 0; i < kTogether; ++i) {
      back[i] = static_cast<T>((rounded[i] - kRound) * resolution);
    }
  }

  // Lanes of what is found of all values, as the largest of doubles in a row is one that
  // a compiler must find one by one.
  struct Found {
    double low[kTogether];
    double high[kTogether];
    double most[kTogether];
    std::uint64_t misfits;

    void take(const T *__restrict values, const double *__restrict rounded,
              const T *__restrict back, double half) {
      double error[kTogether];
      for (std::size_t i = 0; i < kTogether; ++i) {
        error[i] = std::fabs(static_cast<double>(back[i]) - static_cast<double>(values[i]));
      }
      std::uint64_t none = 0;
      for (std::size_t i = 0; i < kTogether; ++i) {
        none |= error[i] <= half ? std::uint64_t{0} : std::uint64_t{1};
      }
      for (std::size_t i = 0; i < kTogether; ++i) most[i] = error[i] > most[i] ? error[i] : most[i];
      for (std::size_t i = 0; i < kTogether; ++i)
        low[i] = rounded[i] < low[i] ? rounded[i] : low[i];
      for (std::size_t i = 0; i < kTogether; ++i) {
        high[i] = rounded[i] > high[i] ? rounded[i] : high[i];
      }
      misfits |= none;
    }
  };

  static void take_low(const double *__restrict rounded, std::uint32_t *__restrict low) {
    for (std::size_t i = 0; i < kTogether; ++i) {
      low[i] = static_cast<std::uint32_t>(bits_of(rounded[i]));
    }
  }

  static std::uint64_t number(double rounded) {
    return static_cast<std::uint64_t>(minus(bits_of(rounded), bits_of(kRound)));
  }

  // Whether there is nothing but numbers, none too large; then their low bits and the
  // largest error.
  bool all_fit(double half, double &largest) {
    Found found;
    std::fill(found.low, found.low + kTogether, rounded_[0]);
    std::fill(found.high, found.high + kTogether, rounded_[0]);
    std::fill(found.most, found.most + kTogether, 0.0);
    found.misfits = 0;
    for (std::size_t row = 0; row < rows_; row += kTogether) {
      found.take(values_ + row, &rounded_[row], &back_[row], half);
    }
    const double from = *std::min_element(found.low, found.low + kTogether);
    const double to = *std::max_element(found.high, found.high + kTogether);
    largest = *std::max_element(found.most, found.most + kTogether);
    // Inside the span in which the last bit of a double is a whole number.
    if (found.misfits != 0 || !(from > kRound - kMost && to < kRound + kMost)) return false;
    for (std::size_t row = 0; row < rows_; row += kTogether) {
      take_low(&rounded_[row], &numbers_.low[row + 1]);
    }
    numbers_.low[0] = numbers_.low[1];
    numbers_.first = static_cast<std::int64_t>(number(rounded_[0]));
    numbers_.span(static_cast<std::int64_t>(number(from)), static_cast<std::int64_t>(number(to)));
    return true;
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
    std::array<std::uint64_t, kBlock> numbers;
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
    decimals(values_, rows_, kPowers[power], &numbers_.all[1], same.data());
    for (std::size_t row = 0; row < rows_; ++row) {
      holes_[row] = !(same[row] && has(row));
      if (!same[row] && has(row)) plain_.push_back(static_cast<std::uint16_t>(row));
    }
    fill(numbers_);
    return true;
  }

  static void decimals(const T *values, std::size_t count, double power, std::uint64_t *numbers,
                       bool *same) {
    std::array<double, kBlock> products;
    for (std::size_t i = 0; i < count; ++i) products[i] = static_cast<double>(values[i]) * power;
    for (std::size_t i = 0; i < count; ++i) {
      const double rounded = products[i] + kRound;
      numbers[i] = number(rounded);
      const T back = static_cast<T>((rounded - kRound) / power);
      same[i] = element_bits(back) == element_bits(values[i]) && std::fabs(products[i]) < kMost;
    }
  }

  // Bits in the order of the values, without the lowest ones that are 0 in all;
  // gives how many.
  std::size_t bits() {
    std::uint64_t any = 0;
    for (std::size_t row = 0; row < rows_; ++row) {
      const auto bits = static_cast<std::uint64_t>(element_bits(values_[row]));
      any |= all_ || has(row) ? bits : 0;
    }
    std::size_t shift = 0;
    while (any != 0 && (any >> shift & 1) == 0) ++shift;
    if (all_ && low_bits(shift)) return shift;
    for (std::size_t row = 0; row < rows_; ++row) {
      holes_[row] = !has(row);
      bits_.all[row + 1] =
          static_cast<std::uint64_t>(turn<T>(element_bits(values_[row]) >> shift, shift));
    }
    fill(bits_);
    return shift;
  }

  // The same of elements of 4 bytes at most, none of which is missing; false where
  // there are others, or they are far from one another.
  bool low_bits(std::size_t shift) {
    if constexpr (sizeof(T) > 4) {
      return false;
    } else {
      constexpr bool kUnsigned = std::is_integral_v<T> && std::is_unsigned_v<T>;
      // Unsigned ones as signed numbers, which all processors compare.
      constexpr std::uint32_t kTurned = kUnsigned ? std::uint32_t{1} << 31 : 0;
      const auto magnitude = static_cast<std::int32_t>(std::numeric_limits<std::int32_t>::max() >>
                                                       (32 - 8 * sizeof(T)) >> shift);
      std::int32_t from = std::numeric_limits<std::int32_t>::max();
      std::int32_t to = std::numeric_limits<std::int32_t>::min();
      for (std::size_t row = 0; row < rows_; row += kTogether) {
        for (std::size_t i = row; i < row + kTogether; ++i) {
          const auto bits = static_cast<std::uint32_t>(element_bits(values_[i]));
          std::uint32_t low = bits >> shift;
          if constexpr (!kUnsigned) {
            const std::int32_t number = static_cast<std::int32_t>(bits) >> shift;
            const std::int32_t turned = number ^ (number >> 31 & magnitude);
            low = static_cast<std::uint32_t>(std::is_integral_v<T> ? number : turned);
          }
          bits_.low[i + 1] = low;
          const auto number = static_cast<std::int32_t>(low ^ kTurned);
          from = number < from ? number : from;
          to = number > to ? number : to;
        }
      }
      bits_.low[0] = bits_.low[1];
      const auto number = [](std::uint32_t low) {
        return kUnsigned ? std::int64_t{low} : std::int64_t{static_cast<std::int32_t>(low)};
      };
      bits_.first = number(bits_.low[0]);
      bits_.span(number(static_cast<std::uint32_t>(from) ^ kTurned),
                 number(static_cast<std::uint32_t>(to) ^ kTurned));
      return bits_.narrow;
    }
  }

  // Holes take the number before them, the first ones the first that there is.
  void fill(Numbers &numbers) {
    std::size_t first = 0;
    while (first < rows_ && holes_[first]) ++first;
    std::uint64_t last = first < rows_ ? numbers.all[first + 1] : 0;
    for (std::size_t row = 0; row < rows_; ++row) {
      if (holes_[row]) numbers.all[row + 1] = last;
      last = numbers.all[row + 1];
    }
    numbers.take(rows_);
  }

  const T *values_;
  std::size_t rows_;
  const std::uint8_t *bitmap_;
  bool all_;
  bool narrow_;  // which codes there are
  std::array<T, kBlock> padded_;
  std::array<double, kBlock> rounded_;
  std::array<T, kBlock> back_;
  std::array<bool, kBlock> holes_;
  std::vector<std::uint16_t> plain_;
  Numbers numbers_;
  Numbers bits_;
  Ways<std::uint32_t> low_codes_;
  Ways<std::uint64_t> codes_;
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
  // Without parentheses, which would set all of it to 0.
  const std::unique_ptr<detail::BlockWriter<T>> block(new detail::BlockWriter<T>);
  for (std::size_t row = 0; row < rows; row += detail::kBlock) {
    const std::size_t count = rows - row < detail::kBlock ? rows - row : detail::kBlock;
    const std::uint8_t *bits = bitmap == nullptr ? bitmap : bitmap + row / 8;
    if (!block->write(values + row, count, bits, how, out.bytes, out.error)) {
      out = Reduced();
      return detail::fault(Fault::steps, 0, name);
    }
    detail::store(out.bytes.data() + row / detail::kBlock * detail::kEntry,
                  static_cast<std::uint32_t>(out.bytes.size() - index));
  }
  return {};
}

}  // namespace wiregauge::packed
