#define _GNU_SOURCE
#define PIC
#include "PacedCard.h"

#include <alsa/asoundlib.h>
#include <alsa/pcm_external.h>
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

struct card {
    snd_pcm_ioplug_t plug_in;
    int timer, played, heard;
    char *plug;
    int64_t began;
};

static int64_t now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return time.tv_sec * 1000000000LL + time.tv_nsec;
}

static void tick(struct card *card, int64_t nanoseconds) {
    struct timespec step = {nanoseconds / 1000000000, nanoseconds % 1000000000};
    struct itimerspec times = {step, step};
    timerfd_settime(card->timer, 0, &times, NULL);
}

static int is_out(struct card *card) { return card->plug && access(card->plug, F_OK) != 0; }

static int card_prepare(snd_pcm_ioplug_t *plug_in) { return is_out(plug_in->private_data) ? -ENODEV : 0; }

static int card_start(snd_pcm_ioplug_t *plug_in) {
    struct card *card = plug_in->private_data;
    card->began = now();
    tick(card, (int64_t)plug_in->period_size * 500000000LL / plug_in->rate);
    return 0;
}

static int card_stop(snd_pcm_ioplug_t *plug_in) {
    tick(plug_in->private_data, 0);
    return 0;
}

static snd_pcm_sframes_t card_pointer(snd_pcm_ioplug_t *plug_in) {
    struct card *card = plug_in->private_data;
    if (is_out(card)) {
        snd_pcm_ioplug_set_state(plug_in, SND_PCM_STATE_DISCONNECTED);
        return -ENODEV;
    }
    if (plug_in->state != SND_PCM_STATE_RUNNING && plug_in->state != SND_PCM_STATE_DRAINING) return plug_in->hw_ptr;
    snd_pcm_uframes_t place = (now() - card->began) * plug_in->rate / 1000000000LL;
    if (plug_in->stream == SND_PCM_STREAM_PLAYBACK && place > plug_in->appl_ptr) {
        if (plug_in->state != SND_PCM_STATE_DRAINING) return -EPIPE;
        place = plug_in->appl_ptr;
    }
    if (plug_in->stream == SND_PCM_STREAM_CAPTURE && place > plug_in->appl_ptr + plug_in->buffer_size) return -EPIPE;
    return place % plug_in->buffer_size;
}

static snd_pcm_sframes_t card_transfer(
    snd_pcm_ioplug_t *plug_in, const snd_pcm_channel_area_t *areas, snd_pcm_uframes_t offset, snd_pcm_uframes_t frames
) {
    struct card *card = plug_in->private_data;
    char *bytes = (char *)areas->addr + (areas->first + areas->step * offset) / 8;
    size_t count = frames * areas->step / 8;
    if (is_out(card)) return -ENODEV;
    if (plug_in->stream == SND_PCM_STREAM_PLAYBACK) {
        if (card->played >= 0 && write(card->played, bytes, count) != (ssize_t)count) return -EIO;
    } else {
        ssize_t got = card->heard < 0 ? 0 : read(card->heard, bytes, count);
        if (got < 0) return -EIO;
        memset(bytes + got, 0, count - got);
    }
    return frames;
}

static int card_revents(snd_pcm_ioplug_t *plug_in, struct pollfd *descriptors, unsigned int count, unsigned short *events) {
    struct card *card = plug_in->private_data;
    uint64_t ticks;
    *events = 0;
    if (count != 1 || !(descriptors->revents & POLLIN)) return 0;
    if (read(card->timer, &ticks, sizeof ticks) != sizeof ticks) return 0;
    *events = is_out(card) ? POLLERR : plug_in->stream == SND_PCM_STREAM_PLAYBACK ? POLLOUT : POLLIN;
    return 0;
}

static int card_close(snd_pcm_ioplug_t *plug_in) {
    struct card *card = plug_in->private_data;
    if (card->played >= 0) close(card->played);
    if (card->heard >= 0) close(card->heard);
    close(card->timer);
    free(card->plug);
    free(card);
    return 0;
}

static const snd_pcm_ioplug_callback_t callbacks = {
    .prepare = card_prepare,
    .start = card_start,
    .stop = card_stop,
    .pointer = card_pointer,
    .transfer = card_transfer,
    .poll_revents = card_revents,
    .close = card_close,
};

static int limit(struct card *card, unsigned int format, unsigned int rate) {
    unsigned int accesses[] = {SND_PCM_ACCESS_RW_INTERLEAVED, SND_PCM_ACCESS_MMAP_INTERLEAVED};
    snd_pcm_ioplug_t *plug_in = &card->plug_in;
    int code = snd_pcm_ioplug_set_param_list(plug_in, SND_PCM_IOPLUG_HW_ACCESS, 2, accesses);
    if (code >= 0) code = snd_pcm_ioplug_set_param_list(plug_in, SND_PCM_IOPLUG_HW_FORMAT, 1, &format);
    if (code >= 0) code = snd_pcm_ioplug_set_param_minmax(plug_in, SND_PCM_IOPLUG_HW_CHANNELS, 1, 2);
    if (code >= 0) code = snd_pcm_ioplug_set_param_minmax(plug_in, SND_PCM_IOPLUG_HW_RATE, rate, rate);
    if (code >= 0) code = snd_pcm_ioplug_set_param_minmax(plug_in, SND_PCM_IOPLUG_HW_PERIOD_BYTES, 64, 65536);
    if (code >= 0) code = snd_pcm_ioplug_set_param_minmax(plug_in, SND_PCM_IOPLUG_HW_PERIODS, 2, 8);
    return code;
}

SND_PCM_PLUGIN_DEFINE_FUNC(paced) {
    (void)root;
    const char *played = NULL, *heard = NULL, *plug = NULL, *word = NULL;
    unsigned int format = SND_PCM_FORMAT_FLOAT;
    long rate = 48000;
    snd_config_iterator_t place, next;
    snd_config_for_each(place, next, conf) {
        snd_config_t *entry = snd_config_iterator_entry(place);
        const char *key;
        if (snd_config_get_id(entry, &key) < 0) continue;
        if (!strcmp(key, "played")) snd_config_get_string(entry, &played);
        if (!strcmp(key, "heard")) snd_config_get_string(entry, &heard);
        if (!strcmp(key, "plug")) snd_config_get_string(entry, &plug);
        if (!strcmp(key, "rate")) snd_config_get_integer(entry, &rate);
        if (!strcmp(key, "format") && snd_config_get_string(entry, &word) >= 0) format = snd_pcm_format_value(word);
    }
    if (plug && access(plug, F_OK) != 0) return -ENODEV;
    struct card *card = calloc(1, sizeof *card);
    if (!card) return -ENOMEM;
    card->plug = plug ? strdup(plug) : NULL;
    card->played = -1;
    card->heard = -1;
    if (stream == SND_PCM_STREAM_PLAYBACK && played) {
        card->played = open(played, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
    }
    if (stream == SND_PCM_STREAM_CAPTURE && heard) card->heard = open(heard, O_RDONLY | O_CLOEXEC);
    card->timer = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    card->plug_in.version = SND_PCM_IOPLUG_VERSION;
    card->plug_in.name = "A sound card in a file";
    card->plug_in.callback = &callbacks;
    card->plug_in.private_data = card;
    card->plug_in.poll_fd = card->timer;
    card->plug_in.poll_events = POLLIN;
    int code = snd_pcm_ioplug_create(&card->plug_in, name, stream, mode);
    if (code < 0) {
        card_close(&card->plug_in);
        return code;
    }
    code = limit(card, format, (unsigned int)rate);
    if (code < 0) {
        snd_pcm_ioplug_delete(&card->plug_in);
        return code;
    }
    *pcmp = card->plug_in.pcm;
    return 0;
}

SND_PCM_PLUGIN_SYMBOL(paced);
