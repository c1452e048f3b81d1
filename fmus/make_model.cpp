// Brings a model and an encoding together. CMake names their files.
#include WIREGAUGE_MODEL
#include WIREGAUGE_ENCODING

namespace wiregauge {

std::unique_ptr<Model> make_model(const Parameters &parameters) {
  return std::make_unique<ModelOf<Encoding>>(parameters);
}

}  // namespace wiregauge
