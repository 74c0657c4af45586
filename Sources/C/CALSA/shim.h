#include <alsa/asoundlib.h>

// alsa-lib writes what it thinks of a failure on stderr, unless a handler takes it. The handler has variable arguments,
// which Swift cannot define.
static void calsa_say_nothing(const char *file, int line, const char *function, int code, const char *format, ...) {
    (void)file, (void)line, (void)function, (void)code, (void)format;
}

static inline void calsa_silence(void) {
    snd_lib_error_set_handler(calsa_say_nothing);
}
