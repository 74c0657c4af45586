/* The yardstick of the notification benchmark: what carrying a notification to an app costs at least.
 *
 *   PlainNotification start|acquire CHARACTERISTIC JOURNAL SCRIPT PROGRAM
 *
 * Runs PROGRAM, an app of the wire, with its socket as descriptor 3, and says what SCRIPT says to it. Then subscribes to
 * the D-Bus object CHARACTERISTIC, by StartNotify or by AcquireNotify; of each value it commits one row to the database
 * JOURNAL, in WAL, and hands a packet to the app: the last line of SCRIPT, with @ for the number of the delivery and $ for
 * the value in base64. It ends with the app.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sqlite3.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <systemd/sd-bus.h>
#include <unistd.h>

enum { SOCKET = 3, PACKET = 65536, VALUE = 512 };

static char packet[PACKET + 1];
static int app;
static uint64_t delivery;
/* The text before the number, between it and the value, and after both. */
static char *parts[3];
static sqlite3_stmt *begin, *insert, *commit;

static void fail(const char *what, int error)
{
	fprintf(stderr, "PlainNotification: %s: %s\n", what, strerror(error));
	exit(1);
}

/* Reads the next packet; 0 at the end. */
static int receive(int flags)
{
	ssize_t count;
	do
		count = recv(app, packet, PACKET, flags);
	while (count < 0 && errno == EINTR);
	if (count < 0)
		return errno == EAGAIN ? -1 : 0;
	packet[count] = 0;
	return count > 0;
}

/* Says it; takes what the app says meanwhile, so that neither waits for the other for ever. */
static void say(const char *text, size_t count)
{
	static char answer[PACKET];
	while (send(app, text, count, MSG_NOSIGNAL | MSG_DONTWAIT) < 0) {
		struct pollfd ready = {.fd = app, .events = POLLIN | POLLOUT};
		if (errno == EPIPE || errno == ECONNRESET)
			return;
		if (errno != EAGAIN && errno != EINTR)
			fail("send to the app", errno);
		poll(&ready, 1, -1);
		if (ready.revents & POLLIN)
			recv(app, answer, sizeof answer, MSG_DONTWAIT);
	}
}

/* Waits for packets that hold each of the words, in any order. */
static void await(char *line)
{
	char *words[8];
	int left = 0;
	for (char *word = strtok(line, " "); word && left < 8; word = strtok(NULL, " "))
		words[left++] = word;
	while (left > 0) {
		if (!receive(0))
			fail("the app ended", 0);
		for (int place = left - 1; place >= 0; place--)
			if (strstr(packet, words[place]))
				words[place] = words[--left];
	}
}

/* A line is `WORD[ WORD...]<tab>PACKET`: once packets with all the words have come, PACKET is said. */
static void converse(const char *path)
{
	static char line[PACKET];
	FILE *file = fopen(path, "re");
	if (!file)
		fail(path, errno);
	while (fgets(line, sizeof line, file)) {
		line[strcspn(line, "\n")] = 0;
		char *text = strchr(line, '\t');
		if (!text)
			continue;
		*text++ = 0;
		char *number = strchr(text, '@'), *value = number ? strchr(number, '$') : NULL;
		if (value) {
			*number = *value = 0;
			parts[0] = strdup(text);
			parts[1] = strdup(number + 1);
			parts[2] = strdup(value + 1);
			break;
		}
		await(line);
		if (*text) {
			say(text, strlen(text));
			delivery += strstr(text, "\"delivery\"") != NULL;
		}
	}
	fclose(file);
	if (!parts[0])
		fail("the script has no packet for a value", EINVAL);
}

static void start(char *program)
{
	int ends[2];
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) < 0)
		fail("socketpair", errno);
	if (fork() == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		if (dup2(ends[1], SOCKET) < 0)
			_exit(127);
		setenv("WAKEBENCH_SOCKET", "3", 1);
		execl(program, program, NULL);
		_exit(127);
	}
	close(ends[1]);
	app = ends[0];
}

static sqlite3_stmt *prepare(sqlite3 *database, const char *text)
{
	sqlite3_stmt *statement;
	if (sqlite3_prepare_v2(database, text, -1, &statement, NULL) != SQLITE_OK)
		fail(sqlite3_errmsg(database), 0);
	return statement;
}

static void open_journal(const char *path)
{
	sqlite3 *database;
	if (sqlite3_open(path, &database) != SQLITE_OK ||
	    sqlite3_exec(database,
			 "pragma journal_mode = wal; pragma synchronous = normal;"
			 "create table input (number integer primary key, value blob) strict",
			 NULL, NULL, NULL) != SQLITE_OK)
		fail(sqlite3_errmsg(database), 0);
	begin = prepare(database, "begin immediate");
	insert = prepare(database, "insert into input (value) values (?)");
	commit = prepare(database, "commit");
}

static void step(sqlite3_stmt *statement)
{
	if (sqlite3_step(statement) != SQLITE_DONE)
		fail("the journal", 0);
	sqlite3_reset(statement);
}

static void carry(const uint8_t *bytes, size_t count)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char text[VALUE * 2];
	size_t length = 0;
	if (count > VALUE)
		return;
	for (size_t place = 0; place < count; place += 3) {
		uint32_t group = bytes[place] << 16;
		if (place + 1 < count)
			group |= bytes[place + 1] << 8;
		if (place + 2 < count)
			group |= bytes[place + 2];
		text[length++] = digits[group >> 18];
		text[length++] = digits[group >> 12 & 63];
		text[length++] = place + 1 < count ? digits[group >> 6 & 63] : '=';
		text[length++] = place + 2 < count ? digits[group & 63] : '=';
	}
	text[length] = 0;
	step(begin);
	sqlite3_bind_blob(insert, 1, bytes, count, SQLITE_STATIC);
	step(insert);
	step(commit);
	int size = snprintf(packet, sizeof packet, "%s%llu%s%s%s", parts[0], (unsigned long long)++delivery, parts[1], text,
			    parts[2]);
	say(packet, size);
}

/* PropertiesChanged: the interface, what changed, and what is no more. */
static int changed(sd_bus_message *message, void *context, sd_bus_error *error)
{
	const char *name;
	(void)context;
	(void)error;
	if (sd_bus_message_skip(message, "s") < 0 || sd_bus_message_enter_container(message, 'a', "{sv}") < 0)
		return 0;
	while (sd_bus_message_enter_container(message, 'e', "sv") > 0) {
		const void *bytes;
		size_t count;
		if (sd_bus_message_read(message, "s", &name) < 0)
			return 0;
		if (strcmp(name, "Value") == 0 && sd_bus_message_enter_container(message, 'v', "ay") > 0) {
			if (sd_bus_message_read_array(message, 'y', &bytes, &count) >= 0)
				carry(bytes, count);
			sd_bus_message_exit_container(message);
		} else {
			sd_bus_message_skip(message, "v");
		}
		sd_bus_message_exit_container(message);
	}
	return 0;
}

/* Subscribes; the descriptor of AcquireNotify, or -1. */
static int subscribe(sd_bus *bus, int acquires, const char *path)
{
	sd_bus_error error = SD_BUS_ERROR_NULL;
	sd_bus_message *reply = NULL;
	int descriptor = -1, code;
	if (!acquires)
		sd_bus_match_signal(bus, NULL, "org.bluez", path, "org.freedesktop.DBus.Properties", "PropertiesChanged",
				    changed, NULL);
	code = sd_bus_call_method(bus, "org.bluez", path, "org.bluez.GattCharacteristic1",
				  acquires ? "AcquireNotify" : "StartNotify", &error, &reply, acquires ? "a{sv}" : NULL, 0);
	if (code < 0)
		fail(error.message ? error.message : path, -code);
	if (acquires) {
		if (sd_bus_message_read(reply, "h", &descriptor) < 0 || (descriptor = fcntl(descriptor, F_DUPFD_CLOEXEC, 3)) < 0)
			fail("the descriptor", errno);
	}
	sd_bus_message_unref(reply);
	return descriptor;
}

int main(int count, char **arguments)
{
	sd_bus *bus;
	int code;
	if (count != 6) {
		fprintf(stderr, "usage: PlainNotification start|acquire CHARACTERISTIC JOURNAL SCRIPT PROGRAM\n");
		return 2;
	}
	start(arguments[5]);
	converse(arguments[4]);
	open_journal(arguments[3]);
	if ((code = sd_bus_open_system(&bus)) < 0)
		fail("the bus", -code);
	int values = subscribe(bus, strcmp(arguments[1], "acquire") == 0, arguments[2]);
	for (;;) {
		struct pollfd ready[] = {
			{.fd = app, .events = POLLIN},
			{.fd = sd_bus_get_fd(bus), .events = sd_bus_get_events(bus)},
			{.fd = values, .events = POLLIN},
		};
		while ((code = sd_bus_process(bus, NULL)) > 0)
			;
		if (code < 0)
			return 0;
		poll(ready, 3, -1);
		if (ready[0].revents && receive(MSG_DONTWAIT) == 0)
			break;
		if (ready[2].revents & POLLIN) {
			uint8_t bytes[VALUE];
			ssize_t length = read(values, bytes, sizeof bytes);
			if (length > 0)
				carry(bytes, length);
		}
	}
	while (wait(NULL) > 0)
		;
	return 0;
}
