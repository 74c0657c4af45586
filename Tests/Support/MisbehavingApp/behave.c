// A good app in plain C: it finds a belt, connects, subscribes, and answers every delivery and callback.
#include "behave.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

const char *says_after_launch;
int draws_in_background;
static char packet[65537];
static char peripheral[64];

static void say(int socket, const char *text) {
    if (send(socket, text, strlen(text), MSG_NOSIGNAL) < 0) exit(93);
}

// Waits for a packet; the end of the socket ends the app.
static void hear(int socket) {
    ssize_t length = recv(socket, packet, sizeof packet - 1, 0);
    if (length <= 0) exit(0);
    packet[length] = 0;
}

// The text behind a key up to its closing quote.
static int text_of(const char *key, char *text, size_t size) {
    char *place = strstr(packet, key);
    if (place == NULL) return 0;
    place += strlen(key);
    size_t length = strcspn(place, "\"");
    if (length >= size) return 0;
    memcpy(text, place, length);
    text[length] = 0;
    return 1;
}

static long number_of(const char *key) {
    char *place = strstr(packet, key);
    return place != NULL ? strtol(place + strlen(key), NULL, 10) : -1;
}

static void ask(int socket, const char *type, const char *rest) {
    char text[512];
    const char *of = strncmp(type, "central.scan", 12) == 0 ? "" : ",\"peripheral\":\"";
    const char *end = *of ? "\"" : "";
    snprintf(text, sizeof text, "{\"type\":\"%s\",\"manager\":1%s%s%s%s}", type, of, *of ? peripheral : "", end, rest);
    say(socket, text);
}

static void note(const char *value) {
    int file = open("values", O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0666);
    if (file < 0) exit(94);
    dprintf(file, "%s\n", value);
    close(file);
}

// What an app's delegate would do; whether it was a value.
static int handle(int socket) {
    char kind[64];
    char value[1024];
    char rest[64];
    if (!text_of("\"kind\":\"", kind, sizeof kind)) return 0;
    if (strcmp(kind, "central.willRestore") == 0) {
        text_of("\"identifier\":\"", peripheral, sizeof peripheral);
    } else if (strcmp(kind, "central.state") == 0) {
        if (strstr(packet, "poweredOn") != NULL && peripheral[0] == 0)
            ask(socket, "central.scan", ",\"services\":[\"180D\"],\"allowDuplicates\":false");
    } else if (strcmp(kind, "central.discovered") == 0 && peripheral[0] == 0) {
        text_of("\"identifier\":\"", peripheral, sizeof peripheral);
        say(socket, "{\"type\":\"central.stopScan\",\"manager\":1}");
        ask(
            socket, "central.connect",
            ",\"notifyOnConnection\":false,\"notifyOnDisconnection\":false,\"notifyOnNotification\":false,"
            "\"autoReconnect\":false");
    } else if (strcmp(kind, "central.connected") == 0) {
        ask(socket, "peripheral.discoverServices", ",\"services\":[\"180D\"]");
    } else if (strcmp(kind, "peripheral.services") == 0) {
        snprintf(rest, sizeof rest, ",\"service\":%ld", number_of("\"uuid\":\"180D\",\"handle\":"));
        ask(socket, "peripheral.discoverCharacteristics", rest);
    } else if (strcmp(kind, "peripheral.characteristics") == 0) {
        long attribute = number_of("\"uuid\":\"2A37\",\"handle\":");
        snprintf(rest, sizeof rest, ",\"attribute\":%ld,\"enabled\":true", attribute);
        ask(socket, "peripheral.setNotify", rest);
    } else if (strcmp(kind, "peripheral.value") == 0 && text_of("\"value\":\"", value, sizeof value)) {
        note(value);
        return 1;
    }
    return 0;
}

void behave(int socket, long values) {
    char text[256];
    snprintf(text, sizeof text, "{\"type\":\"hello\",\"version\":1,\"client\":\"c\",\"pid\":%d}", (int)getpid());
    say(socket, text);
    hear(socket);
    say(
        socket,
        "{\"type\":\"central.create\",\"manager\":1,\"id\":1,\"restoreIdentifier\":\"belt\",\"showPowerAlert\":false}");
    say(socket, "{\"type\":\"launched\"}");
    if (says_after_launch != NULL) say(socket, says_after_launch);
    while (values != 0) {
        hear(socket);
        if (strstr(packet, "\"type\":\"reply\"") != NULL) continue;
        long delivery = number_of("\"delivery\":");
        int has_left = strstr(packet, "\"name\":\"didEnterBackground\"") != NULL;
        int had_value = handle(socket);
        snprintf(text, sizeof text, "{\"type\":\"ack\",\"delivery\":%ld}", delivery);
        say(socket, text);
        if (has_left && draws_in_background) say(socket, "{\"type\":\"drew\"}");
        if (had_value) values -= values > 0;
    }
}
