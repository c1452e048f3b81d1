// See `shared_memory.h`. Cyclone 0.10 lends a writer a sample in shared memory (`dds_loan_sample`),
// but its `dds_take` copies it out for a reader. `dds_takecdr` does not: what it gives knows where
// the sample lies. ROS 2's layer for Cyclone reads loaned messages in this way.

#include "shared_memory.h"

#include <dds/features.h>

#ifdef DDS_HAS_SHM

#include <dds/ddsc/dds_loan_api.h>
#include <dds/ddsi/ddsi_serdata.h>
#include <pthread.h>
#include <stdio.h>

#include "block.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static dds_entity_t opened;
static unsigned users;

int32_t shared_memory_open(uint32_t domain, const char *configuration) {
  int32_t code = DDS_RETCODE_OK;
  pthread_mutex_lock(&lock);
  if (users == 0) code = opened = dds_create_domain(domain, configuration);
  if (code >= 0) ++users;
  pthread_mutex_unlock(&lock);
  return code;
}

void shared_memory_close(void) {
  pthread_mutex_lock(&lock);
  if (--users == 0) (void)dds_delete(opened);
  pthread_mutex_unlock(&lock);
}

dds_entity_t shared_memory_topic(dds_entity_t participant, const char *name, uint32_t size,
                                 const dds_qos_t *qos) {
  // The generator's own pattern of instructions: an array at the beginning, its length, the end.
  const uint32_t *pattern = Block_desc.m_ops;
  if (Block_desc.m_size != sizeof(Block) || pattern[2] != sizeof(Block) || pattern[3] != DDS_OP_RTS)
    return DDS_RETCODE_UNSUPPORTED;
  const uint32_t ops[] = {pattern[0], pattern[1], size, DDS_OP_RTS};
  // So that types of other sizes are other types.
  char type[64];
  snprintf(type, sizeof type, "Block%u", size);
  const dds_topic_descriptor_t descriptor = {.m_size = size,
                                             .m_align = Block_desc.m_align,
                                             .m_flagset = DDS_TOPIC_FIXED_SIZE,
                                             .m_typename = type,
                                             .m_nops = Block_desc.m_nops,
                                             .m_ops = ops,
                                             .m_meta = ""};
  return dds_create_topic(participant, &descriptor, name, qos, NULL);
}

int32_t shared_memory_check(dds_entity_t end) {
  return dds_is_loan_available(end) ? DDS_RETCODE_OK : WIREGAUGE_NOT_SHARED;
}

int32_t shared_memory_lend(dds_entity_t writer, void **room) {
  return dds_loan_sample(writer, room);
}

int32_t shared_memory_take(dds_entity_t reader, struct ddsi_serdata **samples,
                           dds_sample_info_t *infos, uint32_t most) {
  return dds_takecdr(reader, samples, most, infos, DDS_ANY_STATE);
}

const uint8_t *shared_memory_content(const struct ddsi_serdata *sample) {
  return sample->iox_chunk;
}

void shared_memory_release(struct ddsi_serdata **samples, int32_t count) {
  for (int32_t i = 0; i < count; ++i) ddsi_serdata_unref(samples[i]);
}

#else

int32_t shared_memory_open(uint32_t domain, const char *configuration) {
  (void)domain;
  (void)configuration;
  return DDS_RETCODE_UNSUPPORTED;
}

void shared_memory_close(void) {}

dds_entity_t shared_memory_topic(dds_entity_t participant, const char *name, uint32_t size,
                                 const dds_qos_t *qos) {
  (void)participant;
  (void)name;
  (void)size;
  (void)qos;
  return DDS_RETCODE_UNSUPPORTED;
}

int32_t shared_memory_check(dds_entity_t end) {
  (void)end;
  return WIREGAUGE_NOT_SHARED;
}

int32_t shared_memory_lend(dds_entity_t writer, void **room) {
  (void)writer;
  (void)room;
  return DDS_RETCODE_UNSUPPORTED;
}

int32_t shared_memory_take(dds_entity_t reader, struct ddsi_serdata **samples,
                           dds_sample_info_t *infos, uint32_t most) {
  (void)reader;
  (void)samples;
  (void)infos;
  (void)most;
  return DDS_RETCODE_UNSUPPORTED;
}

const uint8_t *shared_memory_content(const struct ddsi_serdata *sample) {
  (void)sample;
  return NULL;
}

void shared_memory_release(struct ddsi_serdata **samples, int32_t count) {
  (void)samples;
  (void)count;
}

#endif
