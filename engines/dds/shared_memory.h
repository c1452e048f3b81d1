// Samples in the shared memory of iceoryx, which some builds of Cyclone DDS are linked with: a type
// of one size, samples that the library lends to a writer, and that a reader reads where they lie.

#pragma once

#include <dds/dds.h>

// A sample that a reader holds.
struct ddsi_serdata;

// Beside the library's codes: a reader or a writer whose samples would go over the network, and a
// sample that did.
#define WIREGAUGE_NOT_SHARED (-1001)

// Sets up the domain with this configuration, in which shared memory is on. Who comes later in the
// same process shares it. Unsupported where the library has no shared memory.
int32_t shared_memory_open(uint32_t domain, const char *configuration);

// Ends the domain with the last of them.
void shared_memory_close(void);

// A topic of octets, so many in each sample.
dds_entity_t shared_memory_topic(dds_entity_t participant, const char *name, uint32_t size,
                                 const dds_qos_t *qos);

// Whether samples of a writer or a reader lie in shared memory: success or a code.
int32_t shared_memory_check(dds_entity_t end);

// Room for a sample of a writer. `dds_write` sends it where it lies.
int32_t shared_memory_lend(dds_entity_t writer, void **room);

// Takes samples without copying them.
int32_t shared_memory_take(dds_entity_t reader, struct ddsi_serdata **samples,
                           dds_sample_info_t *infos, uint32_t most);

// Where a sample lies in shared memory; nowhere for one that came over the network.
const uint8_t *shared_memory_content(const struct ddsi_serdata *sample);

// Gives samples back.
void shared_memory_release(struct ddsi_serdata **samples, int32_t count);
