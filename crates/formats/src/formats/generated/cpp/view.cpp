// The views that wiregauge generate writes, as their user would call them.
#include "holder.hpp"

namespace {

class Viewed : public Generated {
 public:
  // The holder is what a client would have.
  static constexpr bool has_clients = false;
  static constexpr bool verifies = true;
  static constexpr bool in_place = true;

  void verify(wiregauge::Wire wire) { view(wire); }

  void extract(wiregauge::Wire wire, Object &, Message &message) {
    glue::Root &root = message;
    wiregauge::to_holder(view(wire), root);
  }

  template <class Tally>
  void project(wiregauge::Wire wire, Object &, Message &, Tally &tally) {
    tally = glue::tally<Tally>(view(wire));
  }
  template <class Tally>
  void fixed(wiregauge::Wire wire, Object &, Message &, Tally &tally) {
    glue::fixed(view(wire), tally);
  }
  template <class Tally>
  void element(wiregauge::Wire wire, Object &, Message &, Tally &tally) {
    glue::element(view(wire), tally);
  }

 private:
  static glue::View view(wiregauge::Wire wire) {
    glue::View view;
    const auto error = wiregauge::check(wire.data, wire.size, view);
    if (error != calls::Error::none) throw std::runtime_error(calls::describe(error));
    return view;
  }
};

}  // namespace

int main() { return wiregauge::serve<Viewed>(); }
