// The part of Cyclone DDS that carries samples, as few plain functions: the
// compiler checks the library's types here, and Rust sees none of them.

#define _GNU_SOURCE
#include <dds/dds.h>
#include <dds/security/dds_security_api_defs.h>
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "sample.h"
#include "shared_memory.h"

// The writer or the reader of a topic.
struct end {
  dds_entity_t entity;
  uint32_t sequence;
  // Whether the reader may have samples: it was told to, and not found empty since.
  bool ready;
};

// Samples that are taken at a time, where they are small: so they share what a call takes, as
// they do in ddsperf.
#define MOST_TAKEN 100
// Of larger samples, of which a reader keeps fewer than this, each is taken by itself.
#define KEPT_OF_SMALL 1000

struct wiregauge_dds {
  dds_entity_t participant;
  struct end *ends;
  size_t count;
  // The reader whose turn it is.
  size_t turn;
  // The readers that the waitset finds ready.
  dds_attach_t *found;
  dds_entity_t waitset;
  // Samples on loan from a reader: how many, the topic, and the next one that is handed over.
  void *loans[MOST_TAKEN];
  dds_sample_info_t infos[MOST_TAKEN];
  int32_t lent, next;
  size_t lender;
  // How many are taken at a time.
  uint32_t most;
  // The size of samples that lie in shared memory, of which a reader holds these; or 0.
  uint32_t shared;
  struct ddsi_serdata *held[MOST_TAKEN];
};

// Gives back what is on loan.
static int32_t return_loans(struct wiregauge_dds *dds) {
  if (dds->lent == 0) return DDS_RETCODE_OK;
  if (dds->shared > 0) {
    shared_memory_release(dds->held, dds->lent);
    dds->lent = dds->next = 0;
    return DDS_RETCODE_OK;
  }
  const int32_t code = dds_return_loan(dds->ends[dds->lender].entity, dds->loans, dds->lent);
  dds->lent = dds->next = 0;
  dds->loans[0] = NULL;
  return code;
}

void wiregauge_dds_close(struct wiregauge_dds *dds) {
  if (dds == NULL) return;
  (void)return_loans(dds);
  // Deletes all that belongs to it.
  if (dds->participant > 0) (void)dds_delete(dds->participant);
  if (dds->shared > 0) shared_memory_close();
  free(dds->ends);
  free(dds->found);
  free(dds);
}

const char *wiregauge_dds_error(int32_t code) {
  if (code == WIREGAUGE_NOT_SHARED)
    return "the samples would go over the network and not through shared memory";
  return dds_strretcode(code);
}

// Where Cyclone's library for a part of security is: in a folder beside Cyclone's own, as Debian
// has it, or with it; otherwise where the system looks.
static void find_security_library(const char *part, char *path, size_t size) {
  static const char *const folders[] = {"/libddsc0debian", ""};
  Dl_info own;
  const char *end = NULL;
  if (dladdr((void *)(uintptr_t)&dds_create_participant, &own) != 0)
    end = strrchr(own.dli_fname, '/');
  for (size_t i = 0; end != NULL && i < sizeof folders / sizeof folders[0]; ++i) {
    snprintf(path, size, "%.*s%s/libdds_security_%s.so", (int)(end - own.dli_fname), own.dli_fname,
             folders[i], part);
    if (access(path, R_OK) == 0) return;
  }
  snprintf(path, size, "dds_security_%s", part);
}

// That a participant proves who it is, and protects what the governance in this folder says. A
// library without security opens no participant that has these properties.
static dds_qos_t *create_protected_qos(const char *folder) {
  static const struct {
    const char *part, *path, *init, *begin, *finalize, *end;
  } libraries[] = {
      {"auth", DDS_SEC_PROP_AUTH_LIBRARY_PATH, DDS_SEC_PROP_AUTH_LIBRARY_INIT,
       "init_authentication", DDS_SEC_PROP_AUTH_LIBRARY_FINALIZE, "finalize_authentication"},
      {"ac", DDS_SEC_PROP_ACCESS_LIBRARY_PATH, DDS_SEC_PROP_ACCESS_LIBRARY_INIT,
       "init_access_control", DDS_SEC_PROP_ACCESS_LIBRARY_FINALIZE, "finalize_access_control"},
      {"crypto", DDS_SEC_PROP_CRYPTO_LIBRARY_PATH, DDS_SEC_PROP_CRYPTO_LIBRARY_INIT, "init_crypto",
       DDS_SEC_PROP_CRYPTO_LIBRARY_FINALIZE, "finalize_crypto"}};
  static const struct {
    const char *property, *name;
  } files[] = {{DDS_SEC_PROP_AUTH_IDENTITY_CA, "identity_ca.cert.pem"},
               {DDS_SEC_PROP_AUTH_IDENTITY_CERT, "cert.pem"},
               {DDS_SEC_PROP_AUTH_PRIV_KEY, "key.pem"},
               {DDS_SEC_PROP_ACCESS_PERMISSIONS_CA, "permissions_ca.cert.pem"},
               {DDS_SEC_PROP_ACCESS_GOVERNANCE, "governance.p7s"},
               {DDS_SEC_PROP_ACCESS_PERMISSIONS, "permissions.p7s"}};
  char value[4352];
  dds_qos_t *qos = dds_create_qos();
  for (size_t i = 0; i < sizeof libraries / sizeof libraries[0]; ++i) {
    find_security_library(libraries[i].part, value, sizeof value);
    dds_qset_prop(qos, libraries[i].path, value);
    dds_qset_prop(qos, libraries[i].init, libraries[i].begin);
    dds_qset_prop(qos, libraries[i].finalize, libraries[i].end);
  }
  for (size_t i = 0; i < sizeof files / sizeof files[0]; ++i) {
    snprintf(value, sizeof value, "file:%s/%s", folder, files[i].name);
    dds_qset_prop(qos, files[i].property, value);
  }
  return qos;
}

// Opens, in one participant, for each topic a writer that waits for readers for `patience`
// nanoseconds at most, or a reader that keeps at most `kept` samples. With a `depth` only so many
// of the newest are kept. What listens, if it is there, is called with `context` in a thread of
// Cyclone's when samples have come. `certificates` is the folder with what security wants, or an
// empty text for none. With a size `shared`, samples of this size lie in shared memory, which
// `configuration` turns on.
int32_t wiregauge_dds_open(uint32_t domain, const char *const *topic_names, size_t count,
                           const char *certificates, bool reliable, int32_t depth, int64_t patience,
                           int32_t kept, uint32_t shared, const char *configuration,
                           dds_on_data_available_fn listens, void *context,
                           struct wiregauge_dds **opened) {
  const bool reads = kept > 0;
  struct wiregauge_dds *dds = calloc(1, sizeof *dds);
  if (dds == NULL) return DDS_RETCODE_OUT_OF_RESOURCES;
  dds->ends = calloc(count, sizeof *dds->ends);
  dds->found = calloc(count, sizeof *dds->found);
  dds->count = count;
  dds->most = kept < (shared > 0 ? MOST_TAKEN : KEPT_OF_SMALL) ? 1 : MOST_TAKEN;
  int32_t code = DDS_RETCODE_OUT_OF_RESOURCES;
  if (dds->ends == NULL || dds->found == NULL) goto failed;
  if (shared > 0) {
    code = shared_memory_open(domain, configuration);
    if (code < 0) goto failed;
    dds->shared = shared;
  }
  dds_qos_t *qos = certificates[0] == 0 ? NULL : create_protected_qos(certificates);
  code = dds->participant = dds_create_participant(domain, qos, NULL);
  dds_delete_qos(qos);
  if (code < 0) goto failed;

  qos = dds_create_qos();
  dds_qset_reliability(qos, reliable ? DDS_RELIABILITY_RELIABLE : DDS_RELIABILITY_BEST_EFFORT,
                       patience);
  // Of the topics that is all.
  dds_qos_t *topic_qos = dds_create_qos();
  dds_copy_qos(topic_qos, qos);
  if (depth > 0)
    dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, depth);
  else
    dds_qset_history(qos, DDS_HISTORY_KEEP_ALL, DDS_LENGTH_UNLIMITED);
  if (reads && depth == 0)
    dds_qset_resource_limits(qos, kept, DDS_LENGTH_UNLIMITED, DDS_LENGTH_UNLIMITED);
  dds_listener_t *listener = dds_create_listener(context);
  if (listens != NULL) dds_lset_data_available(listener, listens);
  for (size_t i = 0; code >= 0 && i < count; ++i) {
    const dds_entity_t topic =
        shared > 0
            ? shared_memory_topic(dds->participant, topic_names[i], shared, topic_qos)
            : dds_create_topic(dds->participant, &KeyedSeq_desc, topic_names[i], topic_qos, NULL);
    code = topic;
    if (topic < 0) break;
    code = dds->ends[i].entity = reads ? dds_create_reader(dds->participant, topic, qos, listener)
                                       : dds_create_writer(dds->participant, topic, qos, NULL);
    if (code >= 0 && shared > 0) code = shared_memory_check(dds->ends[i].entity);
    // What comes before it is waited for the first time.
    dds->ends[i].ready = true;
  }
  dds_delete_listener(listener);
  dds_delete_qos(topic_qos);
  dds_delete_qos(qos);
  if (code < 0) goto failed;

  if (reads) {
    code = dds->waitset = dds_create_waitset(dds->participant);
    if (code < 0) goto failed;
    for (size_t i = 0; i < count; ++i) {
      const dds_entity_t condition = dds_create_readcondition(dds->ends[i].entity, DDS_ANY_STATE);
      code =
          condition < 0 ? condition : dds_waitset_attach(dds->waitset, condition, (dds_attach_t)i);
      if (code < 0) goto failed;
    }
  }
  *opened = dds;
  return DDS_RETCODE_OK;

failed:
  wiregauge_dds_close(dds);
  return code;
}

// How many readers the writers have found, the one that has found least.
int32_t wiregauge_dds_readers(struct wiregauge_dds *dds) {
  int32_t least = INT32_MAX;
  for (size_t i = 0; i < dds->count; ++i) {
    dds_publication_matched_status_t status;
    const int32_t code = dds_get_publication_matched_status(dds->ends[i].entity, &status);
    if (code < 0) return code;
    if ((int32_t)status.current_count < least) least = (int32_t)status.current_count;
  }
  return least;
}

int32_t wiregauge_dds_write(struct wiregauge_dds *dds, size_t topic, const uint8_t *bytes,
                            uint32_t size) {
  struct end *end = &dds->ends[topic];
  KeyedSeq sample;
  memset(&sample, 0, sizeof sample);
  sample.seq = end->sequence++;
  sample.baggage._buffer = (uint8_t *)bytes;
  sample.baggage._length = size;
  sample.baggage._maximum = size;
  // ddsperf takes a sample with an odd time for a ping and answers it.
  return dds_write_ts(end->entity, &sample, dds_time() & ~(dds_time_t)1);
}

// Room for a sample in shared memory.
int32_t wiregauge_dds_lend(struct wiregauge_dds *dds, size_t topic, void **room) {
  return shared_memory_lend(dds->ends[topic].entity, room);
}

// Sends a sample where it lies.
int32_t wiregauge_dds_write_lent(struct wiregauge_dds *dds, size_t topic, const void *room) {
  return dds_write(dds->ends[topic].entity, room);
}

// Whether reliable readers have acknowledged all that was written: 1 if they have, 0 if not.
int32_t wiregauge_dds_acknowledged(struct wiregauge_dds *dds) {
  for (size_t i = 0; i < dds->count; ++i) {
    const int32_t code = dds_wait_for_acks(dds->ends[i].entity, 0);
    if (code == DDS_RETCODE_TIMEOUT) return 0;
    if (code < 0) return code;
  }
  return 1;
}

// The next reader in turn that may have samples, or none.
static struct end *ready_reader(struct wiregauge_dds *dds) {
  for (size_t i = 0; i < dds->count; ++i) {
    const size_t turn = (dds->turn + i) % dds->count;
    if (!dds->ends[turn].ready) continue;
    dds->turn = turn;
    return &dds->ends[turn];
  }
  return NULL;
}

// The next sample of any topic, and which that is: 1 if there is one, 0 if none came in time. An
// empty one is a greeting and no sample (see `greeting.rs` of the crate participant). It is valid
// until the next call.
int32_t wiregauge_dds_next(struct wiregauge_dds *dds, int64_t patience, size_t *topic,
                           const uint8_t **bytes, uint32_t *size) {
  const dds_time_t deadline = dds_time() + patience;
  for (;;) {
    while (dds->shared > 0 && dds->next < dds->lent) {
      const bool valid = dds->infos[dds->next].valid_data;
      *bytes = shared_memory_content(dds->held[dds->next++]);
      if (!valid) continue;
      if (*bytes == NULL) return WIREGAUGE_NOT_SHARED;
      *size = dds->shared;
      *topic = dds->lender;
      return 1;
    }
    while (dds->next < dds->lent) {
      const KeyedSeq *sample = dds->loans[dds->next];
      const bool valid = dds->infos[dds->next++].valid_data;
      // Others are only news of a writer, or its greeting.
      if (!valid || sample->baggage._length == 0) continue;
      *bytes = sample->baggage._buffer;
      *size = sample->baggage._length;
      *topic = dds->lender;
      return 1;
    }
    const int32_t returned = return_loans(dds);
    if (returned < 0) return returned;
    struct end *end = ready_reader(dds);
    if (end == NULL) {
      const dds_duration_t left = deadline - dds_time();
      if (left <= 0) break;
      const int32_t ready = dds_waitset_wait(dds->waitset, dds->found, dds->count, left);
      if (ready < 0) return ready;
      for (int32_t i = 0; i < ready && (size_t)i < dds->count; ++i)
        dds->ends[dds->found[i]].ready = true;
      continue;
    }
    const int32_t taken = dds->shared > 0
                              ? shared_memory_take(end->entity, dds->held, dds->infos, dds->most)
                              : dds_take(end->entity, dds->loans, dds->infos, dds->most, dds->most);
    if (taken <= 0) dds->loans[0] = NULL;
    if (taken < 0) return taken;
    dds->lent = taken;
    dds->lender = dds->turn;
    // Whoever has fewer has no more. What comes from now on is told again.
    end->ready = (uint32_t)taken == dds->most;
    // All have their turn.
    dds->turn = (dds->turn + 1) % dds->count;
  }
  // What comes from now on is looked for first the next time.
  for (size_t i = 0; i < dds->count; ++i) dds->ends[i].ready = true;
  return 0;
}
