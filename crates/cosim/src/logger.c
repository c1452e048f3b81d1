// The logger that FMI 2 FMUs call. It takes arguments as printf does, which
// stable Rust cannot receive, so they are put into words here.
#include <stdarg.h>
#include <stdio.h>

void wiregauge_cosim_log(const char *instance, int status, const char *category,
                         const char *message);

void wiregauge_cosim_logger(void *environment, const char *instance, int status,
                            const char *category, const char *format, ...) {
  char message[2048] = "";
  (void)environment;
  if (format) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(message, sizeof message, format, arguments);
    va_end(arguments);
  }
  wiregauge_cosim_log(instance, status, category, message);
}
