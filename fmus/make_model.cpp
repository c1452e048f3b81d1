// Brings a model and an encoding together. CMake names their files and classes.
#include WIREGAUGE_MODEL_HEADER
#include WIREGAUGE_ENCODING_HEADER

namespace wiregauge {

std::unique_ptr<Model> make_model(const Parameters &parameters) {
  return std::make_unique<WIREGAUGE_MODEL<WIREGAUGE_ENCODING>>(parameters);
}

bool has_parameter(unsigned variable) {
  for (const unsigned known : WIREGAUGE_MODEL<WIREGAUGE_ENCODING>::kParameters) {
    if (known == variable) return true;
  }
  return false;
}

}  // namespace wiregauge
