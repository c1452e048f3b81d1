// Protobuf with its message objects on an arena: the same bytes, by the same
// code, in objects that lie one behind the other and are given up all at once.
#pragma once

#include <google/protobuf/arena.h>

#include <cstddef>
#include <memory>
#include <optional>

#include "encodings/protobuf.hpp"

namespace wiregauge {
namespace protobuf {

// A message object on an arena. The arena's first block is kept from step to
// step and has the size that the largest message took, so that a step takes no
// memory from the heap; or all is fresh for each step.
template <class Message>
class OnArena {
 public:
  explicit OnArena(bool fresh) : fresh_(fresh) {}

  void begin() {
    if (!arena_) {
      google::protobuf::ArenaOptions options;
      options.initial_block = block_.get();
      options.initial_block_size = size_;
      arena_.emplace(options);
    } else {
      arena_->Reset();
    }
    // Before version 28 `Create` left parts on the heap; since 30 it is the only one.
#if GOOGLE_PROTOBUF_VERSION < 5028000
    message_ = google::protobuf::Arena::CreateMessage<Message>(&*arena_);
#else
    message_ = google::protobuf::Arena::Create<Message>(&*arena_);
#endif
  }

  // After the last time stamp: a block that was too small makes room for one
  // that is not.
  void drop() {
    if (fresh_) {
      arena_.reset();
      return;
    }
    const std::size_t needed = arena_ ? arena_->SpaceAllocated() : 0;
    if (needed <= size_) return;
    arena_.reset();
    block_.reset(new char[needed]);
    size_ = needed;
  }

  Message &operator*() { return *message_; }
  Message *operator->() { return message_; }
  const Message &operator*() const { return *message_; }
  const Message *operator->() const { return message_; }

 private:
  bool fresh_;
  std::size_t size_ = 0;
  // Outlives the arena.
  std::unique_ptr<char[]> block_;
  std::optional<google::protobuf::Arena> arena_;
  Message *message_ = nullptr;
};

}  // namespace protobuf

using ProtobufArena = ProtobufIn<protobuf::OnArena>;

}  // namespace wiregauge
