// Binary variables of OSMP: how messages travel between FMUs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <new>

namespace wiregauge {

// A message in somebody's memory.
struct Bytes {
  const std::uint8_t *data = nullptr;
  std::size_t size = 0;

  bool empty() const { return data == nullptr || size == 0; }
};

// The three integers that are a message in FMI 2.0.
struct Pointer {
  std::int32_t lo = 0;
  std::int32_t hi = 0;
  std::int32_t size = 0;

  static Pointer of(Bytes bytes) {
    const auto address = reinterpret_cast<std::uintptr_t>(bytes.data);
    return {static_cast<std::int32_t>(static_cast<std::uint32_t>(address)),
            static_cast<std::int32_t>(static_cast<std::uint32_t>(address >> 32)),
            static_cast<std::int32_t>(bytes.size)};
  }

  // A negative size is the caller's to refuse.
  Bytes bytes() const {
    const auto address = static_cast<std::uintptr_t>(static_cast<std::uint32_t>(hi)) << 32 |
                         static_cast<std::uintptr_t>(static_cast<std::uint32_t>(lo));
    return {reinterpret_cast<const std::uint8_t *>(address), static_cast<std::size_t>(size)};
  }
};

constexpr std::size_t kMaximumSize = std::numeric_limits<std::int32_t>::max();

// Memory that is written before it is read: growing neither clears nor copies.
// It begins with a cache line, on which columns of numbers may rely.
class Buffer {
 public:
  std::uint8_t *reserve(std::size_t size) {
    if (size > capacity_) {
      release();
      // With room for messages that grow slowly, as timestamps do.
      const std::size_t capacity = size + size / 16 + 64;
      memory_.reset(static_cast<std::uint8_t *>(::operator new(capacity, kAlignment)));
      capacity_ = capacity;
    }
    return memory_.get();
  }

  void release() {
    memory_.reset();
    capacity_ = 0;
  }

 private:
  static constexpr std::align_val_t kAlignment{64};

  struct Delete {
    void operator()(std::uint8_t *memory) const { ::operator delete(memory, kAlignment); }
  };

  std::unique_ptr<std::uint8_t, Delete> memory_;
  std::size_t capacity_ = 0;
};

// What holds an output. OSMP has an output live until the second DoStep after
// the one that made it begins, so two take turns.
template <class T>
class Double {
 public:
  void turn() { second_ = !second_; }
  T &current() { return both_[second_ ? 1 : 0]; }

 private:
  T both_[2];
  bool second_ = false;
};

}  // namespace wiregauge
