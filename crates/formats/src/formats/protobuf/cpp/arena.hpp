// Messages in arenas.
#pragma once

#include <google/protobuf/arena.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "glue.hpp"
#include "wiregauge/codec.hpp"

namespace {

// A message in an arena: before version 28 `Create` left its parts on the heap,
// and since version 30 there is no `CreateMessage`. Tried with 3.21.12 and 36.2.
inline Root *create(google::protobuf::Arena &arena) {
#if GOOGLE_PROTOBUF_VERSION < 5028000
  return google::protobuf::Arena::CreateMessage<Root>(&arena);
#else
  return google::protobuf::Arena::Create<Root>(&arena);
#endif
}

// An arena over a first block that holds what the messages so far needed.
class Memory {
 public:
  explicit Memory(std::size_t size) { open(size); }

  google::protobuf::Arena &arena() { return *arena_; }

  // Forgets the message. Where the first block was too small for it, `needed`
  // is raised, and so is the block where `needed` is more than it has.
  void reset(std::size_t &needed) {
    const std::size_t used = arena_->SpaceUsed();
    if (arena_->SpaceAllocated() > size_) needed = std::max(needed, used + used / 8 + kOverhead);
    if (needed > size_) {
      open(needed);
    } else {
      arena_->Reset();
    }
  }

 private:
  // What the arena keeps for itself in the block.
  static constexpr std::size_t kOverhead = 1024;

  void open(std::size_t size) {
    arena_.reset();
    block_.reset(size == 0 ? nullptr : new char[size]);
    size_ = size;
    google::protobuf::ArenaOptions options;
    options.start_block_size = 4 << 10;
    options.max_block_size = 1 << 20;
    options.initial_block = block_.get();
    options.initial_block_size = size;
    arena_.emplace(options);
  }

  std::unique_ptr<char[]> block_;
  std::size_t size_ = 0;
  std::optional<google::protobuf::Arena> arena_;
};

class Objects : public wiregauge::Defaults {
 public:
  // A message and the memory that it was lent.
  struct Object {
    std::unique_ptr<Memory> memory;
    Root *message = nullptr;
  };

  Root &start(Object &object) {
    if (object.memory) {
      object.memory->reset(needed_);
    } else if (memories_.empty()) {
      object.memory = std::make_unique<Memory>(needed_);
    } else {
      object.memory = std::move(memories_.back());
      memories_.pop_back();
    }
    object.message = create(object.memory->arena());
    return *object.message;
  }
  static Root &get(Object &object) { return *object.message; }

  void recycle(Object &object) {
    if (!object.memory) return;
    object.memory->reset(needed_);
    memories_.push_back(std::move(object.memory));
  }

 private:
  // How large a first block would have held every message so far.
  std::size_t needed_ = 0;
  std::vector<std::unique_ptr<Memory>> memories_;
};

}  // namespace
