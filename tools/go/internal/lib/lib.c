/*
 * The library, and SQLite with it unless the build tag libsqlite3 asks for the system's. They are one
 * translation unit, in which every symbol of SQLite is static: so a program can hold another SQLite as well,
 * such as go-sqlite3's. (package.sh puts the two amalgamations here. They have the names of headers, or cgo
 * would compile them alone.)
 */
#define _DEFAULT_SOURCE
#define _FILE_OFFSET_BITS 64
#define _TIME_BITS 64

#ifdef SESLITE_BUNDLED
#define SQLITE_API static
#define SESLITE_WITHOUT_KEYS 1
#define SQLITE_THREADSAFE 1
#define SQLITE_DQS 0
#define SQLITE_ENABLE_FTS5 1
#define SQLITE_ENABLE_DBSTAT_VTAB 1
#define SQLITE_OMIT_LOAD_EXTENSION 1
#define SQLITE_OMIT_DEPRECATED 1
#define HAVE_USLEEP 1
#if defined(__GNUC__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wunused-function"
#endif
#include "sqlite3_amalgamation.h"
#if defined(__GNUC__)
#pragma GCC diagnostic pop
#endif
#undef JSON_MAX_DEPTH /* of SQLite's own functions; the library has an enumerator of that name */
#endif

#include "seslite_amalgamation.h"
