/* Colfer's code, which allocates and never frees, with
   its memory from the object that is being read. */
#include <stdlib.h>
void *wiregauge_malloc(size_t size);
void *wiregauge_calloc(size_t count, size_t size);
#define malloc wiregauge_malloc
#define calloc wiregauge_calloc
#include "Colfer.c"
