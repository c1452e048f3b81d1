// Colfer by hand: what was read is freed, which the generated code leaves to its caller.
#include "Colfer.h"

// The row has the generated code allocate from memory of its own; here the heap is it.
extern "C" {
void *wiregauge_malloc(std::size_t size) { return std::malloc(size); }
void *wiregauge_calloc(std::size_t count, std::size_t size) { return std::calloc(count, size); }
}

namespace {

// A message as Colfer has it, with its own memory.
struct Object {
  wg_msg_info info{};
  std::vector<wg_lidar_point> points;

  void fill(const hand::Lidar &from) {
    info = {from.info.kind, from.info.timestamp, from.info.guid};
    points.resize(from.points.size());
    auto to = points.begin();
    for (const hand::Point &point : from.points) {
      const auto &position = point.position;
      *to++ = {position[0], position[1], position[2], point.intensity};
    }
  }
};

class Colfer : public hand::ByHand {
 public:
  Colfer() { colfer_size_max = colfer_list_max = std::size_t{1} << 31; }

  const char *library() override { return "Colfer"; }
  bool has_object() override { return true; }

  std::size_t encode(const hand::Lidar &message) override {
    object_.fill(message);
    return write_of(object_);
  }

  std::string written() override { return {out_.begin(), out_.begin() + long(size_)}; }

  void decode(hand::Bytes wire, hand::Lidar &message) override {
    const wg_lidar_points_msg object = read(wire);
    message.info = {object.info->kind, object.info->timestamp, object.info->guid};
    message.points.resize(object.points.len);
    const wg_lidar_point *from = object.points.list;
    for (hand::Point &to : message.points) {
      to.position = {from->position_0, from->position_1, from->position_2};
      to.intensity = from->intensity;
      ++from;
    }
    free_of(object);
  }

  void fill(const std::vector<hand::Lidar> &messages) override {
    objects_.clear();
    for (const hand::Lidar &message : messages) objects_.emplace_back().fill(message);
  }
  std::size_t write(std::size_t index) override { return write_of(objects_[index]); }
  void parse(hand::Bytes wire) override {
    const wg_lidar_points_msg object = read(wire);
    hand::use(object);
    free_of(object);
  }

 private:
  std::size_t write_of(Object &from) {
    wg_lidar_points_msg object{};
    object.info = &from.info;
    object.points = {from.points.data(), from.points.size()};
    size_ = wg_lidar_points_msg_marshal_len(&object);
    if (out_.size() < size_) out_.resize(size_);
    if (wg_lidar_points_msg_marshal(&object, out_.data()) != size_) std::abort();
    hand::use(out_);
    return size_;
  }

  static wg_lidar_points_msg read(hand::Bytes wire) {
    wg_lidar_points_msg object{};
    if (wg_lidar_points_msg_unmarshal(&object, wire.data, wire.size) != wire.size) std::abort();
    return object;
  }

  static void free_of(const wg_lidar_points_msg &object) {
    std::free(object.info);
    std::free(object.points.list);
  }

  // Grows and is not cleared, so that nothing is zeroed.
  std::vector<std::uint8_t> out_;
  std::size_t size_ = 0;
  // Kept, as its memory is.
  Object object_;
  std::vector<Object> objects_;
};

}  // namespace

int main() {
  Colfer library;
  return hand::Server(library).serve();
}
