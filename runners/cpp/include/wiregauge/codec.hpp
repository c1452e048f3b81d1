// What a C++ runner must know of its codec.
//
// A codec is a class that derives from wiregauge::Defaults and has these members
// (see docs/runner-protocol.md and the Rust trait of the same name):
//
//   using Message;                 the normalized form, with
//                                  static Message from_canonical(Reader &)
//                                  and void to_canonical(Writer &) const
//   struct Object;                 the library's own form of a message;
//                                  wiregauge::None where there is none
//   static std::string library();  its name and version
//   void populate(const Message &, Object &);
//   void write(const Message &, Object &, Buffer &);
//   void parse(Wire, Object &);
//   void extract(Wire, Object &, Message &);
//   template <class Tally> void project(Wire, Object &, Message &, Tally &);
//   template <class Tally> void fixed(Wire, Object &, Message &, Tally &);
//   template <class Tally> void element(Wire, Object &, Message &, Tally &);
//
// The reading experiments take the way that the library offers for reading
// without an application's own form. Where it has none but to parse whole, they
// do so into the object or message that they are given. `fixed` and `element`
// say `number(0, …)`, or nothing where their number is not there.
//
// Three things live on from message to message or do not, as the settings say,
// and alike for every codec: *scratch*, what a user of the library keeps that is
// no message (builders, flyweights, transports, the blocks of arenas), which is
// the codec itself, made anew for each message where scratch is fresh;
// *objects*, Object and Message; and *output buffers*.
//
// A codec that can write a message into memory that it is given, and read it there, without a
// copy of the message's bytes, says writes_in_place and has:
//
//   Wire write_in_place(const Message &, Room);   throws NoRoom; what it wrote
//   void read_in_place(Wire, Object &, Message &);
//   template <class Tally> void project_in_place(Wire, Object &, Tally &);
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
#include <utility>
#include <vector>

#include "wiregauge/tally.hpp"

namespace wiregauge {

// Encoded bytes, aligned to 16 as a transport's buffer is.
struct Wire {
  const std::uint8_t *data = nullptr;
  std::size_t size = 0;
};

// Memory for a message. It begins and ends at a multiple of kAlignment bytes.
struct Room {
  static constexpr std::size_t kAlignment = 64;
  std::uint8_t *data = nullptr;
  std::size_t size = 0;
};

// A message that does not fit into its room.
class NoRoom : public std::runtime_error {
 public:
  NoRoom() : std::runtime_error("the message does not fit into the memory that was lent") {}
};

// No object: the codec goes straight between normalized form and bytes.
struct None {};

// A message that the format cannot say. It is no fault of the codec, which is
// then shown as rejected and not as failed.
class Rejected : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What most codecs have in common; a codec hides what differs.
class Defaults {
 public:
  // Whether there is verify(Wire): checking apart from reading.
  static constexpr bool verifies = false;
  // Whether users build and read its object, or the normalized form as if it were
  // that, so that there is the experiment `client`.
  static constexpr bool has_clients = false;
  // Whether decoding and the reading experiments trust the bytes.
  static constexpr bool unchecked = false;
  // Whether the reading experiments need neither object nor message.
  static constexpr bool in_place = false;
  // Whether there are write_in_place, read_in_place and project_in_place.
  static constexpr bool writes_in_place = false;

  // Called once with each message, before anything is timed: refuses one that
  // the library would change in silence, so that no check has to be timed.
  template <class Message>
  void admit(const Message &) {}

  // Called before each encoding where buffers are fresh: lets go of output
  // memory that the library keeps in the codec or in the object.
  template <class Object>
  void forget_output(Object &) {}

  // Called where buffers are fresh before each writing, also of an object that
  // was populated ahead: lets go of output memory that writing alone uses.
  void forget_written() {}

  // Takes back an object that is not used again, where scratch of the codec was
  // lent to it.
  template <class Object>
  void recycle(Object &) {}
};

// An output buffer that grows without filling what it grows by.
class Buffer {
 public:
  Buffer() = default;
  explicit Buffer(std::size_t capacity) { reserve(capacity); }
  Buffer(Buffer &&other) noexcept { swap(other); }
  Buffer &operator=(Buffer &&other) noexcept {
    swap(other);
    return *this;
  }
  ~Buffer() { std::free(data_); }

  std::uint8_t *data() { return data_; }
  const std::uint8_t *data() const { return data_; }
  // Bytes written, those that are referred to included.
  std::size_t size() const { return size_ + referred_; }
  std::size_t capacity() const { return capacity_; }
  void clear() {
    size_ = referred_ = 0;
    pieces_.clear();
  }

  // Lets go of its memory.
  void release() {
    std::free(data_);
    data_ = nullptr;
    size_ = capacity_ = referred_ = 0;
    pieces_ = std::vector<Wire>();
  }

  // Shows bytes that the library keeps, from which a transport could take them
  // (with writev where there are several), until the buffer is cleared. They
  // come behind what is written here.
  void refer(const std::uint8_t *bytes, std::size_t size) {
    pieces_.push_back({bytes, size});
    referred_ += size;
  }

  // Copies what it refers to, so that it holds after the library moved on.
  void own() {
    const std::vector<Wire> pieces = std::move(pieces_);
    pieces_.clear();
    referred_ = 0;
    for (const Wire &piece : pieces) append(piece.data, piece.size);
  }

  // All bytes in one piece.
  Buffer copy() const {
    Buffer all(size());
    all.append(data_, size_);
    for (const Wire &piece : pieces_) all.append(piece.data, piece.size);
    return all;
  }

  void swap(Buffer &other) noexcept {
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
    std::swap(capacity_, other.capacity_);
    std::swap(referred_, other.referred_);
    pieces_.swap(other.pieces_);
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
  std::size_t referred_ = 0;
  std::vector<Wire> pieces_;
};

}  // namespace wiregauge
