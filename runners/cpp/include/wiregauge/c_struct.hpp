// Between the normalized message and the plain C structs of a C library.
//
// The generated code specializes Glue for the library's texts, octets and
// records; the functions below do for members of every shape what Glue does
// for one element: fill (normalized to C), take (C to normalized) and tally (C,
// as the field at a place).
//
// A filled struct points into the message wherever both have the same layout,
// so it is to be used while the message lives; the rest is in an arena.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "wiregauge/codec.hpp"

namespace c_struct {

// Memory for the arrays of one object. Clearing keeps it, as one block, so that
// an object that is used again allocates nothing.
class Arena {
 public:
  Arena() = default;
  Arena(const Arena &) = delete;
  Arena &operator=(const Arena &) = delete;
  ~Arena() { release(); }

  void clear() {
    if (block_ != nullptr && block_->previous != nullptr) release();
    if (block_ != nullptr) open(block_);
  }

  // Memory for C: without a value, and null where none is left (or wanted).
  void *allocate(std::size_t size) noexcept {
    if (size > kMaximum) return nullptr;
    size = (size + (kAlignment - 1)) / kAlignment * kAlignment;
    if (size > left_ && !grow(size)) return nullptr;
    void *at = at_;
    at_ += size;
    left_ -= size;
    return at;
  }

  template <class T>
  T *make(std::size_t count) {
    static_assert(alignof(T) <= kAlignment && std::is_trivially_destructible_v<T>);
    if (count == 0) return nullptr;
    void *memory = count > kMaximum / sizeof(T) ? nullptr : allocate(count * sizeof(T));
    if (memory == nullptr) throw std::bad_alloc();
    return static_cast<T *>(memory);
  }

 private:
  static constexpr std::size_t kAlignment = 8;
  static constexpr std::size_t kSmallest = 512;
  static constexpr std::size_t kMaximum = std::numeric_limits<std::size_t>::max() / 4;

  struct Block {
    Block *previous;
    std::size_t size;
  };

  void open(Block *block) {
    at_ = reinterpret_cast<unsigned char *>(block + 1);
    left_ = block->size;
  }

  bool grow(std::size_t size) noexcept {
    size = std::max({size, 2 * total_, kSmallest});
    auto *block = static_cast<Block *>(std::malloc(sizeof(Block) + size));
    if (block == nullptr) return false;
    *block = {block_, size};
    block_ = block;
    total_ = std::max(total_, size);
    open(block);
    return true;
  }

  // Frees all blocks. Twice `total_`, the largest of them, is room for what all
  // of them held, and what the next block is going to be.
  void release() {
    while (block_ != nullptr) {
      Block *previous = block_->previous;
      std::free(block_);
      block_ = previous;
    }
    left_ = 0;
  }

  Block *block_ = nullptr;
  unsigned char *at_ = nullptr;
  std::size_t left_ = 0;
  std::size_t total_ = 0;
};

// The arenas of a codec, which it lends to its objects.
class Arenas {
 public:
  std::unique_ptr<Arena> lend() {
    if (arenas_.empty()) return std::make_unique<Arena>();
    std::unique_ptr<Arena> arena = std::move(arenas_.back());
    arenas_.pop_back();
    return arena;
  }

  void take_back(std::unique_ptr<Arena> arena) {
    if (arena) arenas_.push_back(std::move(arena));
  }

 private:
  std::vector<std::unique_ptr<Arena>> arenas_;
};

// One element: here a number or a truth value, elsewhere specialized.
template <class From, class To>
struct Glue {
  static_assert(std::is_arithmetic_v<From> && std::is_arithmetic_v<To>);
  // Whether the memory of one may be used as the other's. A C library's truth
  // value may be any byte, so it never is a bool's.
  static constexpr bool kSame = sizeof(From) == sizeof(To) &&
                                std::is_floating_point_v<From> == std::is_floating_point_v<To> &&
                                (!std::is_same_v<From, bool> || std::is_same_v<To, bool>);

  static void fill(From from, To &to, Arena &) { to = static_cast<To>(from); }
  static void take(To from, From &to) { to = static_cast<From>(from); }
  template <class Tally>
  static void tally(To from, unsigned place, Tally &tally) {
    tally.number(place, static_cast<From>(from));
  }
};

// Text that ends at its first NUL.
template <>
struct Glue<std::string, char *> {
  static constexpr bool kSame = false;
  static void fill(const std::string &from, char *&to, Arena &) {
    if (std::memchr(from.data(), 0, from.size()) != nullptr)
      throw wiregauge::Rejected("a string holds a NUL character, where a C string ends");
    to = const_cast<char *>(from.c_str());
  }
  static void take(const char *from, std::string &to) { to = from; }
  template <class Tally>
  static void tally(const char *from, unsigned place, Tally &tally) {
    tally.length(place, std::strlen(from));
  }
};

// Fixed arrays, where C has them.
template <class From, class To, std::size_t N>
struct Glue<std::array<From, N>, To[N]> {
  static constexpr bool kSame = Glue<From, To>::kSame;
  static void fill(const std::array<From, N> &from, To (&to)[N], Arena &arena) {
    if constexpr (kSame) {
      std::memcpy(to, from.data(), sizeof to);
    } else {
      for (std::size_t i = 0; i < N; ++i) Glue<From, To>::fill(from[i], to[i], arena);
    }
  }
  static void take(const To (&from)[N], std::array<From, N> &to) {
    if constexpr (kSame) {
      std::memcpy(static_cast<void *>(to.data()), from, sizeof from);
    } else {
      for (std::size_t i = 0; i < N; ++i) Glue<From, To>::take(from[i], to[i]);
    }
  }
  template <class Tally>
  static void tally(const To (&from)[N], unsigned place, Tally &tally) {
    for (const To &value : from) Glue<From, To>::tally(value, place, tally);
  }
};

template <class From, class To>
void fill_value(const From &from, To &to, Arena &arena) {
  Glue<From, To>::fill(from, to, arena);
}

template <class From, class To>
void take_value(const To &from, From &to) {
  Glue<From, To>::take(from, to);
}

template <class From, class To, class Tally>
void tally_value(const To &from, unsigned place, Tally &tally) {
  Glue<From, To>::tally(from, place, tally);
}

// The library's elements of a list.
template <class T>
struct Span {
  const T *data;
  std::size_t count;
  const T *at(std::size_t index) const { return index < count ? data + index : nullptr; }
  const T *middle() const { return at(count / 2); }
};

// Inlined, or a compiler keeps a sum that is being made on the stack over the
// call and then through the whole loop after it.
template <class T, class Count>
[[gnu::always_inline]] inline Span<T> span(const T *data, Count count) {
  if constexpr (std::is_signed_v<Count>) {
    if (count < 0) throw std::runtime_error("a list has a negative length");
  }
  return {data, static_cast<std::size_t>(count)};
}

// A list of elements of one size: elements in C's layout are pointed to, others
// are put into the arena.
template <class Container, class T, class Count>
void fill_list(const Container &from, T *&data, Count &count, Arena &arena) {
  using From = typename Container::value_type;
  if (from.size() > static_cast<std::make_unsigned_t<Count>>(std::numeric_limits<Count>::max()))
    throw wiregauge::Rejected("a list is longer than its count can say");
  count = static_cast<Count>(from.size());
  if constexpr (Glue<From, T>::kSame) {
    data = reinterpret_cast<T *>(const_cast<From *>(from.data()));
  } else {
    data = arena.make<T>(from.size());
    T *at = data;
    for (const From &value : from) Glue<From, T>::fill(value, *at++, arena);
  }
}

template <class From, class T>
void take_list(Span<T> from, std::vector<From> &to) {
  if constexpr (Glue<From, T>::kSame) {
    const From *values = reinterpret_cast<const From *>(from.data);
    to.assign(values, values + from.count);
  } else {
    to.resize(from.count);
    for (std::size_t i = 0; i < from.count; ++i) Glue<From, T>::take(from.data[i], to[i]);
  }
}

// A fixed array, where C has lists only.
template <class From, class T, std::size_t N>
void take_list(Span<T> from, std::array<From, N> &to) {
  if (from.count != N) throw std::runtime_error("a fixed array has another length");
  for (std::size_t i = 0; i < N; ++i) Glue<From, T>::take(from.data[i], to[i]);
}

template <class Container, class T, class Tally>
void tally_list(Span<T> from, unsigned place, Tally &tally) {
  for (std::size_t i = 0; i < from.count; ++i)
    Glue<typename Container::value_type, T>::tally(from.data[i], place, tally);
}

// An optional value, null where absent.
template <class From, class T>
void fill_nullable(const std::optional<From> &from, T *&to, Arena &arena) {
  if (!from) {
    to = nullptr;
  } else if constexpr (Glue<From, T>::kSame) {
    to = reinterpret_cast<T *>(const_cast<From *>(&*from));
  } else {
    to = arena.make<T>(1);
    Glue<From, T>::fill(*from, *to, arena);
  }
}

inline void fill_nullable(const std::optional<std::string> &from, char *&to, Arena &arena) {
  to = nullptr;
  if (from) Glue<std::string, char *>::fill(*from, to, arena);
}

template <class From, class T>
void take_nullable(const T *from, std::optional<From> &to) {
  if (from == nullptr) {
    to.reset();
  } else {
    if (!to) to.emplace();
    Glue<From, T>::take(*from, *to);
  }
}

inline void take_nullable(const char *from, std::optional<std::string> &to) {
  if (from == nullptr) {
    to.reset();
  } else {
    to = from;
  }
}

template <class Optional, class T, class Tally>
void tally_nullable(const T *from, unsigned place, Tally &tally) {
  if (from == nullptr) return;
  if constexpr (std::is_same_v<Optional, std::optional<std::string>>) {
    Glue<std::string, char *>::tally(from, place, tally);
  } else {
    Glue<typename Optional::value_type, T>::tally(*from, place, tally);
  }
}

// An optional value as a list of none or one.
template <class From, class T, class Count>
void fill_optional_list(const std::optional<From> &from, T *&data, Count &count, Arena &arena) {
  count = from.has_value() ? 1 : 0;
  fill_nullable(from, data, arena);
}

template <class From, class T>
void take_optional_list(Span<T> from, std::optional<From> &to) {
  if (from.count > 1) throw std::runtime_error("an optional value is there more than once");
  take_nullable(from.at(0), to);
}

// An optional value beside a flag that tells whether it counts.
template <class From>
inline const From kNone{};

template <class From, class Flag, class T>
void fill_flagged(const std::optional<From> &from, Flag &has, T &to, Arena &arena) {
  has = from.has_value() ? 1 : 0;
  Glue<From, T>::fill(from ? *from : kNone<From>, to, arena);
}

template <class From, class Flag, class T>
void take_flagged(Flag has, const T &from, std::optional<From> &to) {
  if (has == 0) {
    to.reset();
  } else {
    if (!to) to.emplace();
    Glue<From, T>::take(from, *to);
  }
}

template <class Optional, class Flag, class T, class Tally>
void tally_flagged(Flag has, const T &from, unsigned place, Tally &tally) {
  if (has != 0) Glue<typename Optional::value_type, T>::tally(from, place, tally);
}

// A value that is always there, beside a flag that has to say so.
template <class From, class Flag, class T>
void fill_marked(const From &from, Flag &has, T &to, Arena &arena) {
  has = 1;
  Glue<From, T>::fill(from, to, arena);
}

// A value that is always there, behind a pointer: null reads as an empty one.
template <class From, class T>
void fill_pointer(const From &from, T *&to, Arena &arena) {
  if constexpr (Glue<From, T>::kSame) {
    to = reinterpret_cast<T *>(const_cast<From *>(&from));
  } else {
    to = arena.make<T>(1);
    Glue<From, T>::fill(from, *to, arena);
  }
}

template <class From, class T>
void take_pointer(const T *from, From &to) {
  if (from == nullptr) {
    to = From{};
  } else {
    Glue<From, T>::take(*from, to);
  }
}

template <class From, class T, class Tally>
void tally_pointer(const T *from, unsigned place, Tally &tally) {
  if (from != nullptr) Glue<From, T>::tally(*from, place, tally);
}

}  // namespace c_struct
