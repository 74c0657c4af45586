#include "CJournalFiles.h"

#include <pthread.h>
#include <sqlite3.h>
#include <string.h>

// A page comes with this before it, which holds the size of the database where the page is the last of a transaction
// (https://www.sqlite.org/fileformat2.html#the_write_ahead_log).
enum { FRAME_HEADER = 24, SIZE_AFTER_COMMIT = 4 };
// A larger transaction goes in several writes.
enum { MOST_HELD = 65536 };

// A write-ahead log. What is held of it is of a transaction that is not committed: the library reads it through this file
// only, and whoever finds the file after a crash has no use for it.
struct log {
    sqlite3_file base;
    sqlite3_file *file; // SQLite's own, behind this one
    unsigned char *held;
    int count;
    sqlite3_int64 start;
    int commits; // the page after what is held ends the transaction
};

static sqlite3_vfs files;
static sqlite3_vfs *system_files;

static struct log *log_of(sqlite3_file *file) {
    return (struct log *)file;
}

static sqlite3_file *below(sqlite3_file *file) {
    return log_of(file)->file;
}

// After a failure what was held is gone, and so is the transaction: the library gives it up.
static int let_go(struct log *log) {
    int count = log->count;
    log->count = 0;
    log->commits = 0;
    if (count == 0) return SQLITE_OK;
    return log->file->pMethods->xWrite(log->file, log->held, count, log->start);
}

static int ends_transaction(const void *header) {
    static const unsigned char none[4];
    return memcmp((const unsigned char *)header + SIZE_AFTER_COMMIT, none, sizeof none) != 0;
}

static int log_write(sqlite3_file *file, const void *bytes, int count, sqlite3_int64 place) {
    struct log *log = log_of(file);
    if (log->count > 0 && (place != log->start + log->count || count > MOST_HELD - log->count)) {
        int code = let_go(log);
        if (code != SQLITE_OK) return code;
    }
    int is_header = count == FRAME_HEADER;
    if ((log->count == 0 && !is_header) || count > MOST_HELD) {
        return log->file->pMethods->xWrite(log->file, bytes, count, place);
    }
    if (log->count == 0) log->start = place;
    memcpy(log->held + log->count, bytes, (size_t)count);
    log->count += count;
    if (!is_header && log->commits) return let_go(log);
    log->commits = is_header && ends_transaction(bytes);
    return SQLITE_OK;
}

static int log_close(sqlite3_file *file) {
    let_go(log_of(file));
    sqlite3_free(log_of(file)->held);
    return below(file)->pMethods->xClose(below(file));
}

static int log_read(sqlite3_file *file, void *bytes, int count, sqlite3_int64 place) {
    int code = let_go(log_of(file));
    return code != SQLITE_OK ? code : below(file)->pMethods->xRead(below(file), bytes, count, place);
}

static int log_truncate(sqlite3_file *file, sqlite3_int64 size) {
    int code = let_go(log_of(file));
    return code != SQLITE_OK ? code : below(file)->pMethods->xTruncate(below(file), size);
}

static int log_sync(sqlite3_file *file, int flags) {
    int code = let_go(log_of(file));
    return code != SQLITE_OK ? code : below(file)->pMethods->xSync(below(file), flags);
}

static int log_size(sqlite3_file *file, sqlite3_int64 *size) {
    int code = let_go(log_of(file));
    return code != SQLITE_OK ? code : below(file)->pMethods->xFileSize(below(file), size);
}

static int log_lock(sqlite3_file *file, int kind) {
    return below(file)->pMethods->xLock(below(file), kind);
}

static int log_unlock(sqlite3_file *file, int kind) {
    return below(file)->pMethods->xUnlock(below(file), kind);
}

static int log_check_lock(sqlite3_file *file, int *result) {
    return below(file)->pMethods->xCheckReservedLock(below(file), result);
}

static int log_control(sqlite3_file *file, int what, void *argument) {
    return below(file)->pMethods->xFileControl(below(file), what, argument);
}

static int log_sector(sqlite3_file *file) {
    return below(file)->pMethods->xSectorSize(below(file));
}

static int log_device(sqlite3_file *file) {
    return below(file)->pMethods->xDeviceCharacteristics(below(file));
}

// Version 1: shared memory and mapped pages are the database's own file's.
static const sqlite3_io_methods log_methods = {
    .iVersion = 1,
    .xClose = log_close,
    .xRead = log_read,
    .xWrite = log_write,
    .xTruncate = log_truncate,
    .xSync = log_sync,
    .xFileSize = log_size,
    .xLock = log_lock,
    .xUnlock = log_unlock,
    .xCheckReservedLock = log_check_lock,
    .xFileControl = log_control,
    .xSectorSize = log_sector,
    .xDeviceCharacteristics = log_device,
};

static int open_file(sqlite3_vfs *vfs, sqlite3_filename name, sqlite3_file *file, int flags, int *given) {
    (void)vfs;
    if (!(flags & SQLITE_OPEN_WAL)) return system_files->xOpen(system_files, name, file, flags, given);
    struct log *log = log_of(file);
    memset(log, 0, sizeof *log);
    log->held = sqlite3_malloc(MOST_HELD);
    if (!log->held) return SQLITE_NOMEM;
    log->file = (sqlite3_file *)(log + 1);
    int code = system_files->xOpen(system_files, name, log->file, flags, given);
    if (code == SQLITE_OK) {
        log->base.pMethods = &log_methods;
    } else {
        sqlite3_free(log->held);
    }
    return code;
}

static void make_files(void) {
    system_files = sqlite3_vfs_find(NULL);
    if (!system_files) return;
    files = *system_files;
    files.zName = "wakebench";
    files.szOsFile = (int)sizeof(struct log) + system_files->szOsFile;
    files.xOpen = open_file;
    if (sqlite3_vfs_register(&files, 0) != SQLITE_OK) system_files = NULL;
}

const char *wake_journal_files(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, make_files);
    return system_files ? files.zName : NULL;
}
