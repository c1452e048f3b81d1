// In place of the conversation with the gauge: a program that does no more than encode a
// message, decode one, both, or neither, as it was compiled. What it is linked from beside
// the codec is the same in all of them.
#pragma once

#include <cstdint>
#include <exception>
#include <optional>
#include <string>

#include "wiregauge/canonical.hpp"
#include "wiregauge/codec.hpp"

extern "C" {
struct wiregauge_block {
  const std::uint8_t *data;
  std::size_t size;
};
struct wiregauge_cost {
  std::uint64_t stack;
  std::uint64_t heap_peak;
  std::uint64_t allocations;
};
void wiregauge_input(wiregauge_block out[2]);
void wiregauge_measure(void (*call)(void *), void *context, wiregauge_cost *out);
void wiregauge_output(const wiregauge_cost costs[2], const wiregauge_block blocks[2]);
[[noreturn]] void wiregauge_refuse(const char *text, std::size_t size, int status);
}

namespace wiregauge {

#ifdef WIREGAUGE_ENCODES
inline constexpr bool encodes = true;
#else
inline constexpr bool encodes = false;
#endif
#ifdef WIREGAUGE_DECODES
inline constexpr bool decodes = true;
#else
inline constexpr bool decodes = false;
#endif

// What a call costs. What it throws comes back out of here.
template <class Call>
wiregauge_cost cost(Call call) {
  struct Guarded {
    Call call;
    std::exception_ptr thrown;
  } guarded{std::move(call), nullptr};
  wiregauge_cost cost{};
  wiregauge_measure(
      [](void *context) {
        auto &guarded = *static_cast<Guarded *>(context);
        try {
          guarded.call();
        } catch (...) {
          guarded.thrown = std::current_exception();
        }
      },
      &guarded, &cost);
  if (guarded.thrown) std::rethrow_exception(guarded.thrown);
  return cost;
}

// Makes the message that a program is about of the canonical form, and the other way
// round. The codec is between the two.
template <class Message, class Between>
int transform(Between between) {
  try {
    wiregauge_block input[2];
    wiregauge_input(input);
    Reader reader(Wire{input[0].data, input[0].size});
    Message message = Message::from_canonical(reader);
    reader.finish();
    wiregauge_cost costs[2] = {};
    // As in the timed loops: the pages are there.
    Buffer encoded(input[1].size + input[1].size / 4 + 64);
    Message decoded{};
    const bool is_decoded =
        between(message, Wire{input[1].data, input[1].size}, encoded, decoded, costs);
    Buffer canonical;
    Writer writer(canonical);
    (is_decoded ? decoded : message).to_canonical(writer);
    const Buffer bytes = encoded.copy();
    const wiregauge_block output[2] = {{bytes.data(), bytes.size()},
                                       {canonical.data(), canonical.size()}};
    wiregauge_output(costs, output);
    return 0;
  } catch (const std::exception &error) {
    const std::string text = error.what();
    const bool rejected = dynamic_cast<const Rejected *>(&error) != nullptr;
    wiregauge_refuse(text.data(), text.size(), rejected ? 2 : 1);
  }
}

// The program without the codec: all the same, but nothing is called.
template <class Message>
int serve_without() {
  return transform<Message>([](const Message &, Wire, Buffer &, Message &, wiregauge_cost *costs) {
    costs[0] = cost([] {});
    return false;
  });
}

template <class Codec>
int serve() {
  using Message = typename Codec::Message;
  if constexpr (!encodes && !decodes) {
    return serve_without<Message>();
  } else {
    return transform<Message>([](const Message &message, Wire wire, Buffer &encoded,
                                 Message &decoded, wiregauge_cost *costs) {
      std::optional<Codec> codec;
      [[maybe_unused]] std::optional<typename Codec::Object> object, parsed;
      if constexpr (encodes) {
        costs[0] = cost([&] {
          codec.emplace();
          object.emplace();
          codec->populate(message, *object);
          codec->write(message, *object, encoded);
        });
        encoded.own();
        wire = Wire{encoded.data(), encoded.size()};
      }
      if constexpr (decodes) {
        costs[1] = cost([&] {
          if (!codec) codec.emplace();
          parsed.emplace();
          codec->parse(wire, *parsed);
          codec->extract(wire, *parsed, decoded);
        });
      }
      return decodes;
    });
  }
}

}  // namespace wiregauge
