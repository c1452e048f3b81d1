// Texts, octets and packed numbers, as Colfer has them in C.
#pragma once

#include <cmath>

#include "Colfer.h"
#include "wiregauge/c_struct.hpp"

namespace c_struct {

template <>
struct Glue<std::string, colfer_text> {
  static constexpr bool kSame = false;
  static void fill(const std::string &from, colfer_text &to, Arena &) {
    to = {from.data(), from.size()};
  }
  static void take(const colfer_text &from, std::string &to) {
    if (from.len == 0) {
      to.clear();
    } else {
      to.assign(from.utf8, from.len);
    }
  }
  template <class Tally>
  static void tally(const colfer_text &from, unsigned place, Tally &tally) {
    tally.length(place, from.len);
  }
};

template <>
struct Glue<std::vector<std::uint8_t>, colfer_binary> {
  static constexpr bool kSame = false;
  static void fill(const std::vector<std::uint8_t> &from, colfer_binary &to, Arena &) {
    to = {const_cast<std::uint8_t *>(from.data()), from.size()};
  }
  static void take(const colfer_binary &from, std::vector<std::uint8_t> &to) {
    to.assign(from.octets, from.octets + from.len);
  }
  template <class Tally>
  static void tally(const colfer_binary &from, unsigned place, Tally &tally) {
    tally.length(place, from.len);
  }
};

// Numbers as octets. What was read lies in an arena, aligned for any number.
template <class Container>
void fill_packed(const Container &from, colfer_binary &to, Arena &) {
  const auto *octets = reinterpret_cast<const std::uint8_t *>(from.data());
  to = {const_cast<std::uint8_t *>(octets), from.size() * sizeof(typename Container::value_type)};
}

template <class T>
Span<T> packed(const colfer_binary &from) {
  if (from.len % sizeof(T) != 0) throw std::runtime_error("a packed list ends within a number");
  return {reinterpret_cast<const T *>(from.octets), from.len / sizeof(T)};
}

// Colfer writes a zero of either sign as nothing, and reads it as a positive one.
template <class T>
void check_sign(T value) {
  if (value == 0 && std::signbit(value))
    throw wiregauge::Rejected("it loses the sign of zero: -0.0 is not written, as 0.0 is not");
}

}  // namespace c_struct
