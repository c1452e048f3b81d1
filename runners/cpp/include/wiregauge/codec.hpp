// What a C++ runner must know of its codec.
//
// A codec is a class with these members (see docs/runner-protocol.md and the
// Rust trait of the same name):
//
//   using Message;                 the normalized form, with
//                                  static Message from_canonical(Reader &)
//                                  and void to_canonical(Writer &) const
//   struct Object;                 the library's own form of a message;
//                                  wiregauge::None where there is none
//   static std::string library();  its name and version
//   static constexpr bool verifies;
//   void populate(const Message &, Object &);
//   void write(const Message &, Object &, Buffer &);
//   void parse(Wire, Object &);
//   void extract(Wire, Object &, Message &);
//   double project(Wire);
//   double fixed(Wire);
//   double element(Wire);
//   void verify(Wire);             where verifies is true
//
// Each refuses by throwing a std::exception.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>

namespace wiregauge {

// Encoded bytes, aligned to 16 as a transport's buffer is.
struct Wire {
  const std::uint8_t *data = nullptr;
  std::size_t size = 0;
};

// No object: the codec goes straight between normalized form and bytes.
struct None {};

// An output buffer that grows without filling what it grows by.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t capacity) { reserve(capacity); }
  Buffer(const Buffer &) = delete;
  Buffer &operator=(const Buffer &) = delete;
  Buffer(Buffer &&other) noexcept
      : data_(other.data_), size_(other.size_), capacity_(other.capacity_), view_(other.view_) {
    other.data_ = nullptr;
    other.view_ = nullptr;
    other.size_ = other.capacity_ = 0;
  }
  ~Buffer() { std::free(data_); }

  std::uint8_t *data() { return data_; }
  const std::uint8_t *data() const { return view_ != nullptr ? view_ : data_; }
  std::size_t size() const { return size_; }
  std::size_t capacity() const { return capacity_; }
  void clear() {
    size_ = 0;
    view_ = nullptr;
  }

  // Shows bytes that the library keeps, from which a transport could take
  // them, until the buffer is cleared.
  void refer(const std::uint8_t *bytes, std::size_t size) {
    view_ = bytes;
    size_ = size;
  }

  // Copies what it refers to, so that it holds after the library moved on.
  void own() {
    if (view_ == nullptr) return;
    const std::uint8_t *bytes = view_;
    const std::size_t size = size_;
    clear();
    append(bytes, size);
  }

  // Makes room for `capacity` bytes in all; keeps what is written.
  void reserve(std::size_t capacity) {
    if (capacity <= capacity_) return;
    void *grown = std::realloc(data_, capacity);
    if (grown == nullptr) throw std::bad_alloc();
    data_ = static_cast<std::uint8_t *>(grown);
    capacity_ = capacity;
  }

  // Sets the size; bytes that this adds have no defined value.
  void resize(std::size_t size) {
    if (size > capacity_) reserve(size + size / 2);
    size_ = size;
  }

  void append(const void *bytes, std::size_t size) {
    if (size == 0) return;
    const std::size_t at = size_;
    resize(at + size);
    std::memcpy(data_ + at, bytes, size);
  }

 private:
  std::uint8_t *data_ = nullptr;
  std::size_t size_ = 0;
  std::size_t capacity_ = 0;
  const std::uint8_t *view_ = nullptr;
};

}  // namespace wiregauge
