// Holds what a view shows against what a holder has.
#pragma once

#include <cstring>
#include <iterator>

#include "wiregauge/view.hpp"

namespace views {

template <class Wire, class T>
bool is_same(const wiregauge::View<Wire, T> &seen, const T &held);
template <class T, class Held>
bool is_same(const wiregauge::Numbers<T> &seen, const Held &held);
template <class Wire, class T, class Held>
bool is_same(const wiregauge::List<Wire, T> &seen, const Held &held);

// By their bytes, so that a NaN is itself.
template <class T, class = std::enable_if_t<wiregauge::detail::is_single<T>>>
bool is_same(const T &seen, const T &held) {
  return std::memcmp(&seen, &held, sizeof(T)) == 0;
}

inline bool is_same(std::string_view seen, const std::string &held) { return seen == held; }

template <class Seen, class Held>
bool is_same(const std::optional<Seen> &seen, const std::optional<Held> &held) {
  return seen.has_value() == held.has_value() && (!seen || is_same(*seen, *held));
}

// Lists and arrays; gone through, and by index where there is one.
template <class Seen, class Held>
bool are_same(const Seen &seen, const Held &held) {
  using Element = typename Held::value_type;
  if (seen.size() != held.size() || seen.empty() != held.empty()) return false;
  std::size_t at = 0;
  for (auto one = seen.begin(); one != seen.end(); one++, ++at) {
    const Element &other = held[at];
    if (!is_same(*one, other)) return false;
  }
  return at == held.size();
}

template <class T, class Held>
bool is_same(const wiregauge::Numbers<T> &seen, const Held &held) {
  if (!are_same(seen, held)) return false;
  const auto copy = std::make_unique<T[]>(seen.size());
  seen.copy_to(copy.get());
  for (std::size_t at = 0; at != seen.size(); ++at) {
    const T one = held[at];
    if (!is_same(seen[at], one) || !is_same(copy[at], one)) return false;
    if (std::memcmp(seen.octets() + at * sizeof(T), &one, sizeof(T)) != 0) return false;
    if constexpr (sizeof(T) == 1 && std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      if (seen.data()[at] != one) return false;
    }
  }
  return true;
}

template <class Wire, class T, class Held>
bool is_same(const wiregauge::List<Wire, T> &seen, const Held &held) {
  if (!are_same(seen, held)) return false;
  if constexpr (wiregauge::List<Wire, T>::is_indexed()) {
    for (std::size_t at = held.size(); at != 0; --at) {
      if (!is_same(seen[at - 1], held[at - 1])) return false;
    }
  }
  return true;
}

template <class Wire, class T, std::size_t... Fields>
bool are_fields_same([[maybe_unused]] const wiregauge::View<Wire, T> &seen,
                     [[maybe_unused]] const void *const *held, std::index_sequence<Fields...>) {
  namespace detail = wiregauge::detail;
  return (true && ... &&
          is_same(detail::show_field<Fields>(seen.wiregauge_place),
                  *static_cast<const detail::FieldAt<T, Fields> *>(held[Fields])));
}

template <class Wire, class T>
bool is_same(const wiregauge::View<Wire, T> &seen, const T &held) {
  constexpr std::size_t count = T::wiregauge_fields::count;
  const void *fields[count + 1] = {};
  std::size_t at = 0;
  T::wiregauge_visit(held, [&](const auto &field, const wiregauge::Limits & = {}) {
    fields[at++] = static_cast<const void *>(&field);
  });
  return at == count && are_fields_same(seen, fields, std::make_index_sequence<count>());
}

// What is wrong with the view of bytes of which a holder was read with this verdict.
template <class Wire, class T>
const char *wrong(const std::uint8_t *data, std::size_t bytes, wiregauge::Error verdict,
                  const T &held) {
  using wiregauge::Error;
  wiregauge::View<Wire, T> seen;
  const Error error = wiregauge::check(data, bytes, seen);
  if (error != verdict) return wiregauge::describe(error);
  if (error != Error::none) return nullptr;
  if (!is_same(seen, held)) return "other fields";
  std::vector<std::uint8_t> one, other;
  if (wiregauge::serialize<Wire>(wiregauge::to_holder(seen), one) != Error::none ||
      wiregauge::serialize<Wire>(held, other) != Error::none || one != other) {
    return "another holder";
  }
  return nullptr;
}

}  // namespace views
