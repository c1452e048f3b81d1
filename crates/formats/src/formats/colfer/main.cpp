// The normalized message by the C structs of Colfer.
#include <cerrno>
#include <string>

#include "glue.hpp"
#include "message.hpp"
#include "wiregauge/c_struct_codec.hpp"
#include "wiregauge/serve.hpp"

namespace {

using c_struct::Root;

// Where the generated code allocates.
c_struct::Arena *allocating = nullptr;

}  // namespace

extern "C" {
void *wiregauge_malloc(std::size_t size) { return allocating->allocate(size); }
void *wiregauge_calloc(std::size_t count, std::size_t size) {
  std::size_t total = 0;
  if (__builtin_mul_overflow(count, size, &total)) return nullptr;
  void *memory = allocating->allocate(total);
  if (memory != nullptr) std::memset(memory, 0, total);
  return memory;
}
}

namespace {

// The library's message, filled or read, and the arena that it is lent.
class Object {
 public:
  void fill(const message::Root &from) {
    arena->clear();
    c_struct::fill_value(from, root_, *arena);
  }

  void read(wiregauge::Wire wire) {
    arena->clear();
    allocating = arena.get();
    // What is not on the wire is not written to.
    root_ = Root{};
    // Each element of a list takes a byte at least.
    colfer_list_max = wire.size;
    errno = 0;
    const std::size_t used = generated::unmarshal(&root_, wire.data, wire.size);
    if (used == 0)
      throw std::runtime_error(errno == EWOULDBLOCK ? "the message ends too early"
                               : errno == EFBIG     ? "a list is longer than the message"
                                                    : "not a Colfer message of this type");
    if (used != wire.size) throw std::runtime_error("bytes left over after the message");
  }

  const Root &filled() const { return root_; }
  const Root &parsed() const { return root_; }

  std::unique_ptr<c_struct::Arena> arena;

 private:
  Root root_{};
};

class Colfer : public c_struct::Structs<Colfer> {
 public:
  using Object = ::Object;
  static std::string library() { return "Colfer " + std::string(generated::kVersion); }

  Colfer() { colfer_size_max = kUnlimited; }

  void admit(const Message &message) { c_struct::admit(message); }

  void write(const Message &, Object &object, wiregauge::Buffer &out) {
    colfer_list_max = kUnlimited;
    const std::size_t size = generated::marshal_len(&object.filled());
    if (size == 0) throw wiregauge::Rejected("it is larger than Colfer's limits");
    out.resize(size);
    if (generated::marshal(&object.filled(), out.data()) != size)
      throw std::runtime_error("Colfer wrote another size than it said");
  }

  void parse(wiregauge::Wire wire, Object &object) {
    if (!object.arena) object.arena = arenas_.lend();
    object.read(wire);
  }

 private:
  // Far from where adding it to an address would overflow.
  static constexpr std::size_t kUnlimited = std::size_t{1} << (sizeof(std::size_t) > 4 ? 40 : 30);
};

}  // namespace

int main() { return wiregauge::serve<Colfer>(); }
