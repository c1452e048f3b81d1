// Messages on the heap, used again and again.
#pragma once

#include "glue.hpp"
#include "wiregauge/codec.hpp"

namespace {

class Objects : public wiregauge::Defaults {
 public:
  using Object = Root;

  Root &start(Object &object) {
    object.Clear();
    return object;
  }
  static Root &get(Object &object) { return object; }
};

}  // namespace
