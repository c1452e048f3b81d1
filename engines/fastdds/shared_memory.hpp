// The names of Fast DDS's shared memory.
#pragma once

namespace wiregauge {

// Has the names of shared memory that the library makes from now on begin so, in its folder.
void name_shared_memory(const char *prefix);

}  // namespace wiregauge
