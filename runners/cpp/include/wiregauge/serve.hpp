// The conversation with the gauge on standard input and output.
#pragma once

#include <dlfcn.h>

#include <cstdio>
#include <deque>
#include <iostream>
#include <optional>
#include <sstream>
#include <string>
#include <vector>

#include "wiregauge/canonical.hpp"
#include "wiregauge/codec.hpp"
#include "wiregauge/lent.hpp"
#include "wiregauge/timing.hpp"

namespace wiregauge {

// Heap allocations of this process so far, where the gauge preloaded its
// counter; throws without it.
inline std::pair<std::uint64_t, std::uint64_t> allocation_counts() {
  using Counts = void (*)(std::uint64_t *);
  static const auto counts =
      reinterpret_cast<Counts>(dlsym(RTLD_DEFAULT, "wiregauge_alloc_counts"));
  if (counts == nullptr) throw std::runtime_error("the allocation counter is not loaded");
  std::uint64_t out[3] = {};
  counts(out);
  return {out[0], out[1]};
}

// What is not timed is cold to the compiler, and what is timed is hot: g++ lets a file grow by
// inlining so far and no further, so it has to begin with the timed loops (docs/by-hand.md).
template <class Codec>
class Runner {
 public:
  // Serves one gauge until it says `quit` or closes the pipe.
  [[gnu::cold]] int serve() {
    std::ios::sync_with_stdio(false);
    std::cin.tie(nullptr);
    std::string line;
    while (std::getline(std::cin, line)) {
      std::istringstream stream(line);
      std::vector<std::string> words;
      for (std::string word; stream >> word;) words.push_back(word);
      if (words.empty()) words.emplace_back();
      if (words[0] == "quit") return 0;
      Buffer payload;
      if (has_payload(words)) {
        payload.resize(std::stoull(words.back()));
        std::cin.read(reinterpret_cast<char *>(payload.data()),
                      static_cast<std::streamsize>(payload.size()));
        if (!std::cin) return 1;
      }
      try {
        reply_.clear();
        answer(words, payload);
        send("ok", reply_.data(), reply_.size());
      } catch (const Rejected &error) {
        const std::string text = error.what();
        send("rejected", text.data(), text.size());
      } catch (const std::exception &error) {
        const std::string text = error.what();
        send("error", text.data(), text.size());
      }
    }
    return 0;
  }

 private:
  using Message = typename Codec::Message;
  using Object = typename Codec::Object;

  [[gnu::cold]] static bool has_payload(const std::vector<std::string> &words) {
    if (words[0] == "lent") return words.size() == 6;
    return words.size() == 2 &&
           (words[0] == "schema" || words[0] == "message" || words[0] == "decode");
  }

  [[gnu::cold]] static void send(const char *word, const void *bytes, std::size_t size) {
    std::cout << word << ' ' << size << '\n';
    std::cout.write(static_cast<const char *>(bytes), static_cast<std::streamsize>(size));
    std::cout.flush();
  }

  [[gnu::cold]] void answer(const std::vector<std::string> &words, const Buffer &payload) {
    const std::string &verb = words[0];
    if (verb == "hello" && words.size() == 2) {
      if (words[1] != "2")
        throw std::runtime_error("protocol " + words[1] + " is asked for, this runner speaks 2");
      std::string names;
      for (const auto &name : experiments<Codec>()) names += " " + name;
      say("library " + Codec::library() + "\nexperiments" + names + "\nunchecked " +
          (Codec::unchecked ? "yes" : "no") + "\n");
      if constexpr (Codec::writes_in_place) say("in-place yes\n");
    } else if (verb == "schema") {
      // The schema is compiled in.
    } else if (verb == "reset") {
      samples_.clear();
    } else if (verb == "message") {
      message({payload.data(), payload.size()});
    } else if (verb == "decode") {
      decode({payload.data(), payload.size()});
    } else if (verb == "values" && words.size() == 2) {
      const Wire wire = samples_.at(std::stoull(words[1])).view();
      values("project", [&](Object &object, Message &message, auto &tally) {
        codec_->project(wire, object, message, tally);
      });
      values("fixed", [&](Object &object, Message &message, auto &tally) {
        codec_->fixed(wire, object, message, tally);
      });
      values("element", [&](Object &object, Message &message, auto &tally) {
        codec_->element(wire, object, message, tally);
      });
    } else if (verb == "run" && words.size() == 7) {
      report(run(words[1], std::stoull(words[2]), reuse(words, 3), prove(words[6])));
    } else if (verb == "allocations" && words.size() == 5) {
      allocations(words[1], reuse(words, 2));
    } else if (Codec::writes_in_place && verb == "room" && words.size() == 1) {
      room();
    } else if (Codec::writes_in_place && verb == "lent" && words.size() == 6) {
      report(lent(words, payload));
    } else {
      throw std::runtime_error("there is no request '" + verb + "'");
    }
  }

  [[gnu::cold]] void say(const std::string &text) { reply_.append(text.data(), text.size()); }

  // The settings of a request, all of which it has to state.
  [[gnu::cold]] static Reuse reuse(const std::vector<std::string> &words, std::size_t at) {
    const auto lives = [](const std::string &word, const std::string &name) {
      if (word == name + "=reused") return true;
      if (word == name + "=fresh") return false;
      throw std::runtime_error(name + "=reused or " + name + "=fresh, not '" + word + "'");
    };
    return {lives(words[at], "scratch"), lives(words[at + 1], "objects"),
            lives(words[at + 2], "buffers")};
  }

  [[gnu::cold]] static std::optional<std::size_t> prove(const std::string &word) {
    if (word == "prove=none") return std::nullopt;
    if (word.rfind("prove=", 0) == 0) return std::stoull(word.substr(6));
    throw std::runtime_error("prove=INDEX or prove=none, not '" + word + "'");
  }

  template <class Read>
  [[gnu::cold]] void values(const char *name, Read read) {
    const auto tallied = [&](auto tally) {
      Object object{};
      Message message{};
      read(object, message, tally);
      codec_->recycle(object);
      return tally;
    };
    const Sum sum = tallied(Sum{});
    const Digest digest = tallied(Digest{});
    char text[128];
    std::snprintf(text, sizeof text, "%s %.17e %llu %llu\n", name, sum.value,
                  static_cast<unsigned long long>(digest.count),
                  static_cast<unsigned long long>(digest.hash));
    say(text);
  }

  [[gnu::cold]] void report(const Outcome &outcome) {
    // A time with all its digits always: the heap that the next loop finds does not depend on it.
    char text[80];
    std::snprintf(text, sizeof text, "ns %020llu\nsum %.17e\n",
                  static_cast<unsigned long long>(outcome.ns), outcome.sum);
    say(text);
    const Proof &proof = outcome.proof;
    if (proof.digest)
      say("count " + std::to_string(proof.digest->count) + "\nhash " +
          std::to_string(proof.digest->hash) + "\n");
    if (proof.encoded) say("encoded " + std::to_string(proof.encoded->size()) + "\n");
    if (proof.decoded) say("decoded " + std::to_string(proof.decoded->size()) + "\n");
    if (proof.encoded || proof.decoded) say("\n");
    for (const auto &product : {&proof.encoded, &proof.decoded})
      if (*product) reply_.append((*product)->data(), (*product)->size());
  }

  [[gnu::cold]] void message(Wire canonical) {
    Reader reader(canonical);
    Sample<Message> sample;
    sample.message = Message::from_canonical(reader);
    reader.finish();
    codec_->admit(sample.message);
    Object object{};
    codec_->populate(sample.message, object);
    codec_->write(sample.message, object, sample.wire);
    sample.wire.own();
    codec_->recycle(object);
    reply_.append(sample.wire.data(), sample.wire.size());
    samples_.push_back(std::move(sample));
  }

  [[gnu::cold]] void decode(Wire wire) {
    Message message{};
    Object object{};
    codec_->parse(wire, object);
    codec_->extract(wire, object, message);
    codec_->recycle(object);
    Writer writer(reply_);
    message.to_canonical(writer);
  }

  [[gnu::hot]] Outcome run(const std::string &experiment, std::uint64_t iterations, Reuse reuse,
                           std::optional<std::size_t> prove) {
    return Loop<Codec>(codec_, samples_, iterations, reuse, prove).run(experiment);
  }

  // What message 0 takes in memory that is lent.
  [[gnu::cold]] void room() {
    if constexpr (Codec::writes_in_place) {
      const Sample<Message> &sample = samples_.at(0);
      const Placed placed = InPlace<Codec>(*codec_).place(sample.message, sample.wire.size());
      say("room " + std::to_string(placed.room) + "\nstart " + std::to_string(placed.start) +
          "\nencoded " + std::to_string(placed.encoded.size()) + "\n\n");
      reply_.append(placed.encoded.data(), placed.encoded.size());
    }
  }

  // `lent EXPERIMENT OFFSET SIZE prove=P PATH_SIZE`, and the path.
  [[gnu::cold]] Outcome lent([[maybe_unused]] const std::vector<std::string> &words,
                             [[maybe_unused]] const Buffer &payload) {
    if constexpr (Codec::writes_in_place) {
      const std::string &experiment = words[1];
      const std::string path(reinterpret_cast<const char *>(payload.data()), payload.size());
      const bool writes = experiment == "encode";
      const Room room = files_.at(path, std::stoull(words[2]), std::stoull(words[3]), writes);
      const Wire wire{room.data, room.size};
      const bool proves = prove(words[4]).has_value();
      InPlace<Codec> codec(*codec_);
      if (writes) return codec.encode(samples_.at(0).message, room);
      if (experiment == "decode") return codec.decode(wire, proves);
      if (experiment == "project") return codec.project(wire, proves);
      throw std::runtime_error("there is no experiment '" + experiment +
                               "' in memory that is lent");
    }
    return {};
  }

  // Counts over one pass through the messages. A first pass warms up what is
  // reused; the loop's own set-up goes out by the difference of two passes.
  [[gnu::cold]] void allocations(const std::string &experiment, Reuse reuse) {
    const std::uint64_t count = samples_.size();
    const auto pass = [&](std::uint64_t iterations) {
      const auto before = allocation_counts();
      run(experiment, iterations, reuse, std::nullopt);
      const auto after = allocation_counts();
      return std::pair<double, double>(after.first - before.first, after.second - before.second);
    };
    pass(count);
    const auto one = pass(count);
    const auto two = pass(2 * count);
    char text[96];
    std::snprintf(text, sizeof text, "allocations %.17g\nbytes %.17g\n",
                  std::max(0.0, two.first - one.first) / static_cast<double>(count),
                  std::max(0.0, two.second - one.second) / static_cast<double>(count));
    say(text);
  }

  Scratch<Codec> codec_{std::in_place};
  LentFiles files_;
  std::deque<Sample<Message>> samples_;
  Buffer reply_;
};

// A runner's whole main().
template <class Codec>
int serve() {
  return Runner<Codec>().serve();
}

}  // namespace wiregauge
