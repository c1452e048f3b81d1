// How many bytes a message takes at most in CDR.
#pragma once

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

namespace message {

// Whether all values of a type have one bound.
template <class T>
constexpr bool kFixed = std::is_arithmetic_v<T>;
template <class T, std::size_t N>
constexpr bool kFixed<std::array<T, N>> = kFixed<T>;

// A count of four bytes, and in XCDR2 a size; both aligned.
constexpr std::size_t kListHeader = 14;

// How many bytes a value takes at most, alignment included.
template <class T>
constexpr std::enable_if_t<std::is_arithmetic_v<T>, std::size_t> bound(T) {
  return 2 * sizeof(T) - 1;
}
inline std::size_t bound(const std::string &from) { return kListHeader + from.size() + 1; }
template <class T>
std::size_t bound(const std::vector<T> &from);
template <class T, std::size_t N>
std::size_t bound(const std::array<T, N> &from);
template <class T>
std::size_t bound(const std::optional<T> &from);

template <class T>
std::size_t bounds(const T *from, std::size_t count) {
  std::size_t total = kListHeader;
  if constexpr (std::is_arithmetic_v<T>) {
    total += sizeof(T) - 1 + count * sizeof(T);
  } else if constexpr (kFixed<T>) {
    total += count * bound(T{});
  } else {
    for (std::size_t i = 0; i < count; ++i) total += bound(from[i]);
  }
  return total;
}
template <class T>
std::size_t bound(const std::vector<T> &from) {
  return bounds(from.data(), from.size());
}
template <class T, std::size_t N>
std::size_t bound(const std::array<T, N> &from) {
  return bounds(from.data(), N);
}
template <class T>
std::size_t bound(const std::optional<T> &from) {
  return 1 + (from ? bound(*from) : 0);
}

}  // namespace message
