// SQLite's own files, with one difference: what a transaction appends to the write-ahead log goes to the kernel in one write
// when it is committed. SQLite itself makes two of each page, for its header and for the page.
#pragma once

// The name of the VFS to open a database with, registered at the first call. NULL when there is none to build on.
const char *wake_journal_files(void);
