// The normalized message by the accessors of Cap'n Proto's own compiler.
#include <capnp/message.h>
#include <capnp/serialize.h>
#include <kj/io.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "glue.hpp"
#include "message.hpp"
#include "wiregauge/serve.hpp"

namespace {

using Segment = std::vector<capnp::word>;

// Where capnp::writeMessage writes to: takes the segment table, and refers to
// the segments where they are.
class Pieces final : public kj::OutputStream {
 public:
  explicit Pieces(wiregauge::Buffer &out) : out_(out) {}
  void write(const void *bytes, std::size_t size) override { out_.append(bytes, size); }
  void write(kj::ArrayPtr<const kj::ArrayPtr<const kj::byte>> pieces) override {
    out_.append(pieces[0].begin(), pieces[0].size());
    for (std::size_t i = 1; i < pieces.size(); ++i) out_.refer(pieces[i].begin(), pieces[i].size());
  }

 private:
  wiregauge::Buffer &out_;
};

// The library's builder and reader of a message.
class Object {
 public:
  // A builder over a first segment that it is lent: all zeros, or none.
  Root::Builder build(Segment segment) {
    segment_ = std::move(segment);
    if (segment_.empty()) {
      builder_.emplace();
    } else {
      builder_.emplace(kj::arrayPtr(segment_.data(), segment_.size()));
    }
    return builder_->initRoot<Root>();
  }

  // The end of what was built. Gives back the segment, or a new one where the
  // message had no room in it.
  Segment take_back() {
    std::size_t words = 0;
    if (builder_) {
      for (const auto &segment : builder_->getSegmentsForOutput()) words += segment.size();
      // Its end zeroes what it used of the segment.
      builder_.reset();
    }
    if (words > segment_.size()) segment_ = Segment(words);
    return std::exchange(segment_, {});
  }

  void write(wiregauge::Buffer &out) {
    if (!builder_) throw std::runtime_error("nothing was built");
    Pieces pieces(out);
    capnp::writeMessage(pieces, builder_->getSegmentsForOutput());
  }

  void parse(wiregauge::Wire wire) { reader_.emplace(words(wire), options(wire)); }

  Root::Reader root() {
    if (!reader_) throw std::runtime_error("nothing was parsed");
    return reader_->getRoot<Root>();
  }

  static kj::ArrayPtr<const capnp::word> words(wiregauge::Wire wire) {
    return kj::arrayPtr(reinterpret_cast<const capnp::word *>(wire.data),
                        wire.size / sizeof(capnp::word));
  }

  // Own messages may be larger than the default limit, and must then be read.
  static capnp::ReaderOptions options(wiregauge::Wire wire) {
    capnp::ReaderOptions options;
    options.traversalLimitInWords =
        std::max<std::uint64_t>(options.traversalLimitInWords, wire.size / sizeof(capnp::word) * 2);
    options.nestingLimit = kNesting;
    return options;
  }

 private:
  Segment segment_;
  std::optional<capnp::MallocMessageBuilder> builder_;
  std::optional<capnp::FlatArrayMessageReader> reader_;
};

class CapnProto : public wiregauge::Defaults {
 public:
  using Message = message::Root;
  using Object = ::Object;
  static std::string library() {
    return "capnp " + std::to_string(CAPNP_VERSION_MAJOR) + "." +
           std::to_string(CAPNP_VERSION_MINOR) + "." + std::to_string(CAPNP_VERSION_MICRO);
  }
  static constexpr bool verifies = true;
  static constexpr bool in_place = true;

  // The segment is scratch: it lives here and is lent to one object.
  void recycle(Object &object) {
    Segment segment = object.take_back();
    if (segment.size() > segment_.size()) segment_ = std::move(segment);
  }
  void forget_output(Object &object) {
    object.take_back();
    segment_ = Segment();
  }

  void populate(const Message &message, Object &object) {
    recycle(object);
    fill(message, object.build(std::exchange(segment_, {})));
  }
  void write(const Message &, Object &object, wiregauge::Buffer &out) { object.write(out); }
  void parse(wiregauge::Wire wire, Object &object) { object.parse(wire); }
  void extract(wiregauge::Wire, Object &object, Message &message) { take(object.root(), message); }

  template <class Tally>
  void project(wiregauge::Wire wire, Object &, Message &, Tally &tally) {
    tally = tallied<Tally>(Opened(wire).root());
  }
  template <class Tally>
  void fixed(wiregauge::Wire wire, Object &, Message &, Tally &tally) {
    ::fixed(Opened(wire).root(), tally);
  }
  template <class Tally>
  void element(wiregauge::Wire wire, Object &, Message &, Tally &tally) {
    ::element(Opened(wire).root(), tally);
  }
  void verify(wiregauge::Wire wire) { Opened(wire).root().totalSize(); }

 private:
  class Opened {
   public:
    explicit Opened(wiregauge::Wire wire) : reader_(Object::words(wire), Object::options(wire)) {}
    Root::Reader root() { return reader_.getRoot<Root>(); }

   private:
    capnp::FlatArrayMessageReader reader_;
  };

  Segment segment_;
};

}  // namespace

int main() { return wiregauge::serve<CapnProto>(); }
