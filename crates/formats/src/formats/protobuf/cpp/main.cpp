// The normalized message by the classes of Protobuf's own compiler.
#include "protobuf.hpp"
#include "wiregauge/serve.hpp"

int main() { return wiregauge::serve<Protobuf>(); }
