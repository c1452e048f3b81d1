// Texts and octets, as nanopb has them behind pointers: null reads as empty.
#pragma once

#include <pb.h>

#include "wiregauge/c_struct.hpp"

namespace c_struct {

using Octets = std::vector<std::uint8_t>;

inline pb_bytes_array_t *make_octets(const void *from, std::size_t size, Arena &arena) {
  if (size > std::numeric_limits<pb_size_t>::max())
    throw wiregauge::Rejected("bytes are longer than their count can say");
  constexpr std::size_t kHead = offsetof(pb_bytes_array_t, bytes);
  auto *to = reinterpret_cast<pb_bytes_array_t *>(arena.make<std::uint8_t>(kHead + size));
  to->size = static_cast<pb_size_t>(size);
  if (size != 0) std::memcpy(to->bytes, from, size);
  return to;
}

template <>
struct Glue<Octets, pb_bytes_array_t *> {
  static constexpr bool kSame = false;
  static void fill(const Octets &from, pb_bytes_array_t *&to, Arena &arena) {
    to = make_octets(from.data(), from.size(), arena);
  }
  static void take(const pb_bytes_array_t *from, Octets &to) {
    to.clear();
    if (from != nullptr) to.assign(from->bytes, from->bytes + from->size);
  }
  template <class Tally>
  static void tally(const pb_bytes_array_t *from, unsigned place, Tally &tally) {
    tally.length(place, from == nullptr ? 0 : from->size);
  }
};

// What is always there, behind a pointer.
inline void fill_pointer(const Octets &from, pb_bytes_array_t *&to, Arena &arena) {
  Glue<Octets, pb_bytes_array_t *>::fill(from, to, arena);
}
inline void take_pointer(const pb_bytes_array_t *from, Octets &to) {
  Glue<Octets, pb_bytes_array_t *>::take(from, to);
}
template <class From, class Tally>
void tally_pointer(const pb_bytes_array_t *from, unsigned place, Tally &tally) {
  Glue<Octets, pb_bytes_array_t *>::tally(from, place, tally);
}
inline void fill_pointer(const std::string &from, char *&to, Arena &arena) {
  Glue<std::string, char *>::fill(from, to, arena);
}
inline void take_pointer(const char *from, std::string &to) { to = from == nullptr ? "" : from; }
template <class From, class Tally>
void tally_pointer(const char *from, unsigned place, Tally &tally) {
  tally.length(place, from == nullptr ? 0 : std::strlen(from));
}

// What may be absent.
inline void fill_nullable(const std::optional<Octets> &from, pb_bytes_array_t *&to, Arena &arena) {
  to = nullptr;
  if (from) fill_pointer(*from, to, arena);
}
inline void take_nullable(const pb_bytes_array_t *from, std::optional<Octets> &to) {
  if (from == nullptr) {
    to.reset();
  } else {
    take_pointer(from, to ? *to : to.emplace());
  }
}
template <class Optional, class Tally>
void tally_nullable(const pb_bytes_array_t *from, unsigned place, Tally &tally) {
  if (from != nullptr) tally.length(place, from->size);
}

// A list of octets or of truth values, as bytes.
template <class Container>
void fill_packed(const Container &from, pb_bytes_array_t *&to, Arena &arena) {
  static_assert(sizeof(typename Container::value_type) == 1);
  to = make_octets(from.data(), from.size(), arena);
}
template <class T>
Span<T> packed(const pb_bytes_array_t *from) {
  if (from == nullptr) return {nullptr, 0};
  return {reinterpret_cast<const T *>(from->bytes), from->size};
}

}  // namespace c_struct
