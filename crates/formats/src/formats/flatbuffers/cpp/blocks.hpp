// Vectors of tables and of structs, as blocks where both sides hold them alike.
#pragma once

#include <array>
#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "names.hpp"

namespace {

// Offsets of children that are built before their parent: a stack, kept between
// messages so that building one allocates nothing.
using Scratch = std::vector<uoffset_t>;

// The vector of the children behind `base`, which it takes from the stack.
template <class T>
[[maybe_unused]] Offset<Vector<Offset<T>>> children(FlatBufferBuilder &builder, Scratch &scratch,
                                                    std::size_t base) {
  const std::size_t count = scratch.size() - base;
#if FLATBUFFERS_VERSION_MAJOR < 22
  builder.StartVector(count, sizeof(Offset<T>));
#else
  builder.StartVector<Offset<T>>(count);
#endif
  for (std::size_t at = scratch.size(); at != base; --at)
    builder.PushElement(Offset<T>(scratch[at - 1]));
  scratch.resize(base);
  return Offset<Vector<Offset<T>>>(builder.EndVector(count));
}

// The count of a vector, refused before anything is allocated by it where a
// message of `limit` bytes cannot hold so many.
template <class T>
std::size_t count(const Vector<T> *from, std::size_t limit) {
  const std::size_t count = from == nullptr ? 0 : from->size();
  if (count > limit / flatbuffers::IndirectHelper<T>::element_stride)
    throw std::runtime_error("a vector is longer than the message");
  return count;
}

// Text, octets and numbers to normalized, as a block.
[[maybe_unused]] void assign(const flatbuffers::String *from, std::size_t limit, std::string &to) {
  const std::size_t size = count(from, limit);
  if (size == 0) {
    to.clear();
  } else {
    to.assign(from->c_str(), size);
  }
}

template <class T>
void assign(const Vector<T> *from, std::size_t limit, std::vector<T> &to) {
  const std::size_t size = count(from, limit);
  if (size == 0) {
    to.clear();
  } else {
    to.assign(from->data(), from->data() + size);
  }
}

// How the struct for a normalized record lies in memory.
template <class Message>
struct Layout;

// A block of words without the bytes between and behind the fields, which hold
// whatever the memory held before.
template <class Word, std::size_t kCount>
void copy_fields(void *to, const void *from, const std::array<Word, kCount> &fields) {
  std::array<Word, kCount> words;
  std::memcpy(words.data(), from, sizeof words);
  for (std::size_t i = 0; i < kCount; ++i) words[i] &= fields[i];
  std::memcpy(to, words.data(), sizeof words);
}

// A vector of structs, as one block where both lie in memory alike.
template <class Message>
[[maybe_unused]] auto structs(FlatBufferBuilder &builder, const Message *from, std::size_t count) {
  using To = typename Layout<Message>::Wire;
  if constexpr (Layout<Message>::kSame && !Layout<Message>::kGaps) {
    return builder.CreateVectorOfStructs(reinterpret_cast<const To *>(from), count);
  } else {
    const auto one = [](std::size_t i, To *to, const Message *messages) {
      if constexpr (Layout<Message>::kSame) {
        copy_fields(to, messages + i, Layout<Message>::kFields);
      } else {
        Layout<Message>::fill(messages[i], *new (to) To());
      }
    };
    return builder.CreateVectorOfStructs<To>(count, one, from);
  }
}

// A vector of structs to normalized, as one block where both lie in memory
// alike and any bytes will do.
template <class Message>
[[maybe_unused]] void take_structs(const Vector<const typename Layout<Message>::Wire *> *from,
                                   std::size_t limit, std::vector<Message> &to) {
  const std::size_t size = count(from, limit);
  if (size == 0) {
    to.clear();
  } else if constexpr (Layout<Message>::kSame && !Layout<Message>::kBools) {
    const auto *first = reinterpret_cast<const Message *>(from->Data());
    to.assign(first, first + size);
  } else {
    to.resize(size);
    for (std::size_t i = 0; i < size; ++i)
      Layout<Message>::take(*from->Get(static_cast<uoffset_t>(i)), to[i]);
  }
}

}  // namespace
