// The codes of a reduced column's blocks (docs/packed.md): how long they are, in which
// layers they are smallest, and writing them; for packed_reduce.hpp.
//
// Loops are such that compilers find vectors in them on any processor of 64 bits, at -O2,
// too: without branches, of a length that is known, and in 32 bits where a block's
// numbers lie near one another.
#pragma once

#include "wiregauge/packed.hpp"

namespace wiregauge::packed::detail {

using Buffer = std::vector<std::uint8_t>;

template <std::size_t kWidth, class C>
void pack_eight(const C *numbers, std::uint8_t *out) {
  std::uint64_t words[9] = {};
  for (std::size_t i = 0; i < 8; ++i) {
    const std::size_t bit = i * kWidth;
    const std::uint64_t number = numbers[i];
    words[bit / 64] |= number << bit % 64;
    if (bit % 64 + kWidth > 64) words[bit / 64 + 1] |= number >> (64 - bit % 64) % 64;
  }
  std::memcpy(out, words, kWidth);
}

template <std::size_t kWidth, class C>
void pack_all(const C *numbers, std::size_t count, std::uint8_t *out) {
  if constexpr (kWidth != 0) {
    for (; count >= 8; count -= 8, numbers += 8, out += kWidth) pack_eight<kWidth>(numbers, out);
    if (count == 0) return;
    C last[8] = {};
    std::copy(numbers, numbers + count, last);
    std::uint8_t bytes[kWidth];
    pack_eight<kWidth>(last, bytes);
    std::memcpy(out, bytes, packed_size(count, kWidth));
  }
}

template <class C, std::size_t... kWidths>
void pack_width(std::size_t width, const C *numbers, std::size_t count, std::uint8_t *out,
                std::index_sequence<kWidths...>) {
  using Call = void (*)(const C *, std::size_t, std::uint8_t *);
  static constexpr Call calls[] = {pack_all<kWidths, C>...};
  calls[width](numbers, count, out);
}

// Appends numbers of so many bits; higher ones must be 0.
template <class C>
void pack_bits(const C *numbers, std::size_t width, std::size_t count, Buffer &out) {
  const std::size_t begin = out.size();
  out.resize(begin + packed_size(count, width));
  pack_width(width, numbers, count, out.data() + begin,
             std::make_index_sequence<8 * sizeof(C) + 1>());
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

// Bits without leading zeros, as a float's exponent says it. Without the bit below
// the highest one nothing rounds up to the next power. No processor needs more for
// it than conversions of signed numbers: of 32 bits the highest is never set.
inline std::uint8_t length(std::uint32_t code) {
  const auto highest = static_cast<float>(static_cast<std::int32_t>(code & ~(code >> 1)));
  std::int32_t bits = 0;
  std::memcpy(&bits, &highest, 4);
  const std::int32_t length = (bits >> 23) - 126;
  return static_cast<std::uint8_t>(length < 0 ? 0 : length);
}

inline double double_of(std::uint64_t bits) {
  double out = 0.0;
  std::memcpy(&out, &bits, 8);
  return out;
}

inline std::uint8_t length(std::uint64_t code) {
  const std::uint64_t highest = code & ~(code >> 1);
  // The upper half as a multiple of 2^32 above 2^84, the lower one above 2^52.
  const double upper = double_of(highest >> 32 | 0x4530000000000000);
  const double lower = double_of((highest & 0xffffffff) | 0x4330000000000000);
  const std::int64_t bits = bits_of(upper - 0x1.00000001p84 + lower);
  const std::int32_t length = static_cast<std::int32_t>(bits >> 52) - 1022;
  return static_cast<std::uint8_t>(length < 0 ? 0 : length);
}

// A number's difference to the one before, its sign as its lowest bit.
template <class C>
C difference(C before, C number) {
  const C difference = number - before;
  return static_cast<C>(difference << 1 ^ (~(difference >> (8 * sizeof(C) - 1)) + 1));
}

// So many rows are taken in loops of a length that is known, in which compilers find
// vectors at -O2, too.
constexpr std::size_t kTogether = 64;

// A one in each byte, and all of every second one.
constexpr std::uint64_t kOnes = ~std::uint64_t{0} / 0xff;
constexpr std::uint64_t kPairs = ~std::uint64_t{0} / 0xffff * 0xff;

// Which of eight lengths are above a width, a byte each.
inline std::uint64_t longer_of_eight(const std::uint8_t *lengths, std::size_t width) {
  return (load<std::uint64_t>(lengths) + kOnes * (0x7f - width)) >> 7 & kOnes;
}

// How many of them are, a count in each byte.
inline std::uint64_t count_longer(const std::uint8_t *lengths, std::size_t width) {
  std::uint64_t counts = 0;
  for (std::size_t i = 0; i < kTogether / 8; ++i) counts += longer_of_eight(lengths + 8 * i, width);
  return counts;
}

// Their sum, of every fourth pair in two bytes.
inline std::uint64_t sum_pairs(const std::uint8_t *lengths) {
  std::uint64_t sums = 0;
  for (std::size_t i = 0; i < kTogether / 8; ++i) {
    const auto eight = load<std::uint64_t>(lengths + 8 * i);
    sums += (eight & kPairs) + (eight >> 8 & kPairs);
  }
  return sums;
}

template <class C>
void find_lengths(const C *__restrict codes, std::uint8_t *__restrict lengths) {
  for (std::size_t i = 0; i < kTogether; ++i) lengths[i] = length(codes[i]);
}

template <class C>
void find_codes(const C *__restrict numbers, C smallest, C *__restrict above, C *__restrict steps) {
  for (std::size_t i = 0; i < kTogether; ++i) above[i] = numbers[i + 1] - smallest;
  for (std::size_t i = 0; i < kTogether; ++i) steps[i] = difference(numbers[i], numbers[i + 1]);
}

template <class C>
void mask_codes(C *codes, C mask) {
  for (std::size_t i = 0; i < kTogether; ++i) codes[i] &= mask;
}

// How many codes there are of which length.
struct Lengths {
  std::size_t rows = 0;
  std::array<std::size_t, 65> longer{};  // codes that are longer than so many bits
  std::size_t longest = 0;

  // The layers that take less than `size` bytes, and then that: the smallest, of
  // several the first; false where there are none. Widths are multiples of the step.
  bool choose(std::size_t step, Layers &best, std::size_t &size) const {
    const std::size_t most = align_up(longest, step);
    const std::size_t given = size;
    if (packed_size(rows, most) < size) {
      best = {{most, 0, 0}, {rows, 0, 0}};
      size = packed_size(rows, most);
    }
    // What the bits above a width take at least, however they are layered.
    std::array<std::size_t, 65> bits{};
    for (std::size_t width = most; width-- > 0;) bits[width] = bits[width + 1] + longer[width];
    for (std::size_t first = 0; first < most; first += step) {
      const std::size_t second = longer[first];
      const std::size_t lowest = packed_size(rows, first) + places_size(rows, second);
      if (lowest + (bits[first] + 7) / 8 >= size) continue;
      const std::size_t two = lowest + packed_size(second, most - first);
      if (two < size) {
        best = {{first, most - first, 0}, {rows, second, 0}};
        size = two;
      }
      for (std::size_t both = first + step; both < most; both += step) {
        const std::size_t middle = second * (both - first);
        // So it is with all that are wider.
        if (lowest + (middle + bits[both] + 7) / 8 >= size) break;
        const std::size_t third = longer[both];
        const std::size_t three = lowest + (middle + 7) / 8 + places_size(second, third) +
                                  packed_size(third, most - both);
        if (three < size) {
          best = {{first, both - first, most - both}, {rows, second, third}};
          size = three;
        }
      }
    }
    return size < given;
  }
};

// The codes of a block in one way; behind them, up to a multiple of kTogether, there are
// others that mean nothing.
template <class C>
struct Way {
  std::array<C, kBlock> codes;
  std::array<std::uint8_t, kBlock> lengths;

  // Finds the lengths of so many codes; gives their sum.
  std::size_t measure(std::size_t rows) {
    for (std::size_t row = 0; row < rows; row += kTogether)
      find_lengths(&codes[row], &lengths[row]);
    // Behind them nothing is longer than any width.
    std::fill(lengths.begin() + rows, lengths.begin() + align_up(rows, kTogether), std::uint8_t{0});
    std::uint64_t sums = 0;  // of pairs, 128 times 128 at most
    for (std::size_t row = 0; row < rows; row += kTogether) sums += sum_pairs(&lengths[row]);
    return (sums & 0xffff) + (sums >> 16 & 0xffff) + (sums >> 32 & 0xffff) + (sums >> 48);
  }

  Lengths count(std::size_t rows) const {
    Lengths out;
    out.rows = rows;
    for (; out.longest < 64; ++out.longest) {
      std::uint64_t counts = 0;  // one in each byte, 128 at most
      for (std::size_t row = 0; row < rows; row += kTogether) {
        counts += count_longer(&lengths[row], out.longest);
      }
      if (counts == 0) break;
      for (; counts != 0; counts >>= 8) out.longer[out.longest] += counts & 0xff;
    }
    return out;
  }

  // Writes the lowest bits of all, and which of them go on above.
  void split(std::size_t rows, std::size_t width, std::size_t next, std::array<C, kBlock> &above,
             Buffer &out) {
    if (next == 0) return pack_bits(codes.data(), width, rows, out);
    // Without a branch: which of them go on is anybody's guess.
    std::array<std::uint8_t, kBlock / 8> places;
    std::size_t at = 0;
    for (std::size_t row = 0; row < rows; row += 8) {
      const std::uint64_t longer = longer_of_eight(&lengths[row], width);
      places[row / 8] = static_cast<std::uint8_t>(longer * 0x0102040810204080 >> 56);
      for (std::size_t i = 0; i < 8; ++i) {
        const C rest = codes[row + i] >> width;
        above[at % kBlock] = rest;
        at += rest != 0;
      }
    }
    std::fill(above.begin() + next, above.begin() + align_up(next, kTogether), C{0});
    const C mask = static_cast<C>((C{1} << width) - 1);
    for (std::size_t row = 0; row < rows; row += kTogether) mask_codes(&codes[row], mask);
    pack_bits(codes.data(), width, rows, out);
    if (!is_listed(rows, next)) {
      out.insert(out.end(), places.begin(), places.begin() + places_size(rows, next));
      return;
    }
    for (std::size_t row = 0; row < rows; ++row) {
      if ((places[row / 8] >> row % 8 & 1) != 0) append(out, static_cast<std::uint16_t>(row));
    }
  }
};

// The codes of a block in both ways, and those of the layers above.
template <class C>
struct Ways {
  Way<C> above;
  Way<C> steps;
  Way<C> second;
  std::array<C, kBlock> third;

  // Finds them; the first number stands twice. Gives the sums of their lengths.
  std::array<std::size_t, 2> find(const C *numbers, C smallest, std::size_t rows) {
    for (std::size_t row = 0; row < rows; row += kTogether) {
      find_codes(numbers + row, smallest, &above.codes[row], &steps.codes[row]);
    }
    return {above.measure(rows), steps.measure(rows)};
  }

  // Appends those of one way in these layers, once.
  void write(bool differences, const Layers &layers, Buffer &out) {
    Way<C> &first = differences ? steps : above;
    first.split(layers.counts[0], layers.widths[0], layers.counts[1], second.codes, out);
    if (layers.counts[2] != 0) second.measure(layers.counts[1]);
    second.split(layers.counts[1], layers.widths[1], layers.counts[2], third, out);
    pack_bits(third.data(), layers.widths[2], layers.counts[2], out);
  }
};

// The numbers of a block. The first one stands twice, the last one up to a multiple of
// kTogether.
struct Numbers {
  std::array<std::uint32_t, kBlock + 1> low;  // the lowest bits, enough where narrow
  std::array<std::uint64_t, kBlock + 1> all;  // all, where not
  std::int64_t first;
  std::int64_t smallest;
  bool narrow;  // less than 2^30 apart, so that 31 bits are enough for each code

  void span(std::int64_t from, std::int64_t to) {
    smallest = from;
    narrow = static_cast<std::uint64_t>(minus(to, from)) < std::uint64_t{1} << 30;
  }

  // Takes so many from `all`.
  void take(std::size_t rows) {
    const std::size_t end = align_up(rows, kTogether);
    all[0] = all[1];
    std::fill(all.begin() + rows + 1, all.begin() + end + 1, all[rows]);
    first = static_cast<std::int64_t>(all[0]);
    std::int64_t from = first;
    std::int64_t to = first;
    for (std::size_t row = 1; row <= rows; ++row) {
      const auto number = static_cast<std::int64_t>(all[row]);
      from = number < from ? number : from;
      to = number > to ? number : to;
    }
    span(from, to);
    for (std::size_t row = 0; row <= end; ++row) low[row] = static_cast<std::uint32_t>(all[row]);
  }
};

}  // namespace wiregauge::packed::detail
