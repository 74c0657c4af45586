extension NewApp {
    var makefile: String {
        """
        CFLAGS = -std=c11 -O1 -g -Wall -Wextra

        \(name): main.c
        \t$(CC) $(CFLAGS) -o $@ $<

        """
    }

    var cSource: String { cReader + cApp }

    /// What packets are read with.
    private var cReader: String {
        #"""
        // Follows a heart-rate belt in the background, over Wakebench's wire.
        #define _GNU_SOURCE
        #include <fcntl.h>
        #include <stdarg.h>
        #include <stdbool.h>
        #include <stdio.h>
        #include <stdlib.h>
        #include <string.h>
        #include <sys/socket.h>
        #include <unistd.h>

        // Reading: a value is a piece of the packet's JSON; one that is not there is empty.
        typedef struct {
            const char *at, *end;
        } value;

        static const char *past_blanks(const char *at, const char *end) {
            while (at < end && strchr(" \t\r\n", *at)) at++;
            return at;
        }

        static const char *past_text(const char *at, const char *end) {
            for (at++; at < end && *at != '"'; at++)
                if (*at == '\\') at++;
            return at < end ? at + 1 : end;
        }

        // The end of the value that begins here.
        static const char *past_value(const char *at, const char *end) {
            int depth = 0;
            while (at < end) {
                if (*at == '"') {
                    at = past_text(at, end);
                    if (depth == 0) return at;
                } else if (*at == '{' || *at == '[') {
                    depth++, at++;
                } else if (*at == '}' || *at == ']') {
                    if (depth == 0) return at;
                    at++;
                    if (--depth == 0) return at;
                } else if (*at == ',' && depth == 0) {
                    return at;
                } else {
                    at++;
                }
            }
            return end;
        }

        // The member of an object.
        static value member(value object, const char *key) {
            const char *at = past_blanks(object.at, object.end), *end = object.end;
            while (at < end && (*at == '{' || *at == ',')) {
                const char *name = past_blanks(at + 1, end);
                at = past_blanks(past_value(name, end), end);
                // The closing quote, and blanks, stand between the name and the colon.
                bool found = at - name > (long)strlen(key) && *name == '"' &&
                             !strncmp(name + 1, key, strlen(key)) && name[strlen(key) + 1] == '"';
                const char *begin = past_blanks(at + 1, end);
                at = past_value(begin, end);
                if (found) return (value){begin, at};
                at = past_blanks(at, end);
            }
            return (value){end, end};
        }

        // The element of an array.
        static value element(value array, int index) {
            const char *at = past_blanks(array.at, array.end), *end = array.end;
            while (at < end && (*at == '[' || *at == ',')) {
                const char *begin = past_blanks(at + 1, end);
                at = past_value(begin, end);
                if (at > begin && index-- == 0) return (value){begin, at};
                at = past_blanks(at, end);
            }
            return (value){end, end};
        }

        static bool is_there(value v) { return v.at < v.end; }

        static bool is(value v, const char *text) {
            size_t length = strlen(text);
            return (size_t)(v.end - v.at) == length + 2 && !strncmp(v.at + 1, text, length);
        }

        // Bytes out of base64; how many there are, at most `room`.
        static int bytes(value v, unsigned char *out, int room) {
            static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
            unsigned held = 0;
            int bits = 0, count = 0;
            for (const char *at = v.at + 1; at < v.end && *at != '=' && *at != '"'; at++) {
                const char *digit = strchr(digits, *at);
                if (!digit) return count;
                held = held << 6 | (unsigned)(digit - digits);
                bits += 6;
                if (bits >= 8 && count < room) out[count++] = (unsigned char)(held >> (bits -= 8));
            }
            return count;
        }


        """#
    }

    private var cApp: String {
        #"""
        // The app: one central manager, whose number in this process is 1.
        static int wire;
        static char belt[64];  // The belt's identifier as JSON; empty before it is found.
        static bool belt_is_connected, belt_has_services;
        static int count;

        __attribute__((format(printf, 1, 2))) static void say(const char *format, ...) {
            char packet[1024];
            va_list words;
            va_start(words, format);
            int length = vsnprintf(packet, sizeof packet, format, words);
            va_end(words);
            if (send(wire, packet, (size_t)length, MSG_NOSIGNAL) < 0) exit(1);
        }

        __attribute__((format(printf, 1, 2))) static void note(const char *format, ...) {
            va_list words;
            va_start(words, format);
            vprintf(format, words);
            va_end(words);
            putchar('\n');
            fflush(stdout);
        }

        static void keep(value identifier) {
            snprintf(belt, sizeof belt, "%.*s", (int)(identifier.end - identifier.at), identifier.at);
        }

        static void discover_services(void) {
            say("{\"type\":\"peripheral.discoverServices\",\"manager\":1,\"peripheral\":%s,\"services\":[\"180D\"]}", belt);
        }

        static void begin(void) {
            if (!*belt)
                say("{\"type\":\"central.scan\",\"manager\":1,\"services\":[\"180D\"],\"allowDuplicates\":false}");
            else if (!belt_is_connected)
                say("{\"type\":\"central.connect\",\"manager\":1,\"peripheral\":%s}", belt);
            else if (!belt_has_services)
                discover_services();
        }

        static void deliver(value message) {
            value kind = member(message, "kind");
            if (is(kind, "central.willRestore")) {
                value restored = element(member(message, "peripherals"), 0);
                note("willRestoreState peripherals=%d", is_there(restored));
                if (!is_there(restored)) return;
                keep(member(restored, "identifier"));
                belt_is_connected = is(member(restored, "state"), "connected");
                belt_has_services = is_there(element(member(restored, "services"), 0));
            } else if (is(kind, "central.state") && is(member(message, "state"), "poweredOn")) {
                begin();
            } else if (is(kind, "central.discovered")) {
                note("didDiscover");
                keep(member(member(message, "peripheral"), "identifier"));
                say("{\"type\":\"central.stopScan\",\"manager\":1}");
                say("{\"type\":\"central.connect\",\"manager\":1,\"peripheral\":%s}", belt);
            } else if (is(kind, "central.connected")) {
                note("didConnect");
                discover_services();
            } else if (is(kind, "central.disconnected") || is(kind, "central.failedToConnect")) {
                note("didDisconnect");
                say("{\"type\":\"central.connect\",\"manager\":1,\"peripheral\":%s}", belt);
            } else if (is(kind, "peripheral.services")) {
                value handle = member(element(member(message, "services"), 0), "handle");
                if (is_there(handle))
                    say("{\"type\":\"peripheral.discoverCharacteristics\",\"manager\":1,\"peripheral\":%s,"
                        "\"service\":%d,\"characteristics\":[\"2A37\"]}", belt, atoi(handle.at));
            } else if (is(kind, "peripheral.characteristics")) {
                value handle = member(element(member(message, "characteristics"), 0), "handle");
                if (is_there(handle))
                    say("{\"type\":\"peripheral.setNotify\",\"manager\":1,\"peripheral\":%s,\"attribute\":%d,"
                        "\"enabled\":true}", belt, atoi(handle.at));
            } else if (is(kind, "peripheral.value")) {
                unsigned char measured[2];
                if (bytes(member(message, "value"), measured, 2) < 2) return;
                count++;
                note("didUpdateValue pid=%d count=%d value=%02x%02x bpm=%d", getpid(), count, measured[0], measured[1],
                     measured[1]);
            }
        }

        static void handle(value message) {
            value type = member(message, "type");
            if (is(type, "welcome")) {
                value restored = member(member(message, "launchOptions"), "bluetoothCentrals");
                note("didFinishLaunching pid=%d launchOptions=%s", getpid(), is_there(restored) ? "belts" : "");
                // The restore identifier lets the system launch the app again for what its central waits for.
                say("{\"type\":\"central.create\",\"id\":1,\"manager\":1,\"restoreIdentifier\":\"belts\"}");
                say("{\"type\":\"launched\"}");
            } else if (is(type, "deliver")) {
                deliver(message);
            }
            // Only now: what is acknowledged counts as done, and the app may be suspended.
            value delivery = member(message, "delivery");
            if (is_there(delivery)) say("{\"type\":\"ack\",\"delivery\":%lld}", atoll(delivery.at));
        }

        int main(void) {
            const char *descriptor = getenv("WAKEBENCH_SOCKET");
            if (!descriptor) {
                fputs("no WAKEBENCH_SOCKET: this app is started by wakebench\n", stderr);
                return 2;
            }
            wire = atoi(descriptor);
            fcntl(wire, F_SETFD, FD_CLOEXEC);
            unsetenv("WAKEBENCH_SOCKET");
            say("{\"type\":\"hello\",\"version\":1,\"client\":\"c\",\"pid\":%d}", getpid());
            // A packet is one message, at most 65 536 bytes; the byte behind it ends its numbers.
            static char packet[65537];
            for (ssize_t length; (length = recv(wire, packet, 65536, 0)) > 0;) {
                packet[length] = 0;
                handle((value){packet, packet + length});
            }
        }

        """#
    }
}
