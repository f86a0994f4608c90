"""Makes the extension seslite._seslite: the amalgamated library, and the calls of its headers for Python, by
cffi.

The library is compiled from csrc/, which a source archive brings. In a checkout of the repository `make
amalgamation` makes it anew. SQLite is the system's, as it is for Python's sqlite3: found by pkg-config,
otherwise -lsqlite3. SQLITE_CFLAGS and SQLITE_LIBS say it otherwise. SESLITE_SQLITE is a folder with sqlite3.c
and sqlite3.h, which are then compiled into the extension, as wheels have it; nothing else in the process sees
that copy. With SESLITE_WITH_POSTGRES=1 the extension also has stores on a PostgreSQL server, and links libpq:
POSTGRES_CFLAGS and POSTGRES_LIBS. With SESLITE_WITH_MYSQL=1 it has those on MySQL and MariaDB, and links
MariaDB's client library: MYSQL_CFLAGS and MYSQL_LIBS.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import sysconfig
import tempfile

import cffi

HERE = pathlib.Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SOURCES = HERE / "csrc"
PARTS = ("seslite.h", "seslite_history.h", "seslite_live.h", "seslite_transfer.h")
NAMES = (
    "seslite.c",
    *PARTS,
    "seslite_agent.h",
    "seslite_artifact.h",
    "seslite_draft.h",
    "seslite_inbox.h",
    "seslite_search.h",
    "seslite_memory.h",
    "seslite_usage.h",
    "seslite_erase.h",
    "seslite_postgres.c",
    "seslite_postgres.h",
    "seslite_mysql.c",
    "seslite_mysql.h",
)
# Of an SQLite that is compiled into the extension.
SQLITE_MACROS = {
    "THREADSAFE": "1",
    "DQS": "0",
    "ENABLE_FTS5": "1",
    "ENABLE_DBSTAT_VTAB": "1",
    "OMIT_LOAD_EXTENSION": "1",
    "OMIT_DEPRECATED": "1",
}
# The engines for servers that are wanted: the name of each, and of its client library for pkg-config and for
# the linker.
ENGINES = [
    (name, *library)
    for name, *library in (("postgres", "libpq", "-lpq"), ("mysql", "libmariadb", "-lmariadb"))
    if os.environ.get(f"SESLITE_WITH_{name.upper()}", "") not in ("", "0")
]
HEADERS = (
    "seslite_agent.h",
    "seslite_artifact.h",
    "seslite_draft.h",
    "seslite_inbox.h",
    "seslite_search.h",
    "seslite_memory.h",
    "seslite_usage.h",
    "seslite_erase.h",
    *(f"seslite_{name}.h" for name, *_ in ENGINES),
)

# What C calls in Python, and what Python cannot do itself: a follower's notify runs with locks held, so it
# must not wait for the interpreter; and which SQLite a module of Python uses.
CALLBACKS = """
extern "Python" {
    int ses_py_next(void *, ses_loaded_event *, ses_error *);
    int ses_py_write(void *, const char *, size_t, ses_error *);
    int ses_py_read(void *, char *, size_t, size_t *, ses_error *);
    int ses_py_exported(void *, int64_t, int64_t);
    int ses_py_left_out(void *, const ses_error *);
    int ses_py_imported(void *, const ses_import_item *);
    int ses_py_progress(void *, int64_t, int64_t);
    int ses_py_problem(void *, const ses_problem *);
    int ses_py_zone(void *, int64_t);
    int ses_py_answer(void *, const ses_function *, const ses_event *, int, char **, size_t *, ses_error *);
    int ses_py_count(void *, const ses_event *, const char *, size_t, int64_t *, ses_error *);
    int ses_py_artifact(void *, const char *, char **, size_t *, ses_error *);
    int ses_py_find(void *, const char *, size_t, size_t, size_t *, size_t *, ses_error *);
    int64_t ses_py_clock(void *);
    int ses_py_make_id(void *, char *, size_t);
    void ses_py_trace(void *, const ses_trace *);
}
const char *sqlite3_libversion(void);
void ses_py_notify(void *);
int ses_py_same_sqlite(const char *);
size_t ses_py_members_room(const ses_session *);
size_t ses_py_members(const ses_session *, const char *, char *);
static char *const SES_PY_TOMBSTONE;
#define SES_NUL ...
#define SES_VERSION_NUMBER ...
#define SES_SCHEMA_VERSION ...
"""
SOURCE = """
#include <dlfcn.h>
#include <sqlite3.h>
#include <string.h>
#include <unistd.h>
#define SES_PY_TOMBSTONE ((char *)SES_TOMBSTONE)

/* Wakes an event loop. A pipe that is full has woken it already. */
static void ses_py_notify(void *context)
{
    ssize_t written = write((int)(intptr_t)context, "", 1);
    (void)written;
}

/* True if a loaded module contains the copy of SQLite linked here. NULL is the interpreter itself. */
static int ses_py_same_sqlite(const char *module)
{
    void *handle = dlopen(module, RTLD_LAZY);
    int same = handle && dlsym(handle, "sqlite3_libversion") == (void *)sqlite3_libversion;
    if (handle)
        dlclose(handle);
    return same;
}

/* The end of a string that begins at `at`: its quote has an even number of backslashes before it. */
static const char *ses_py_skip_string(const char *at, const char *end)
{
    const char *const first = at + 1;
    for (at = first; at < end && (at = memchr(at, '"', (size_t)(end - at))) != NULL; at++) {
        const char *slash = at;
        while (slash > first && slash[-1] == '\\\\')
            slash--;
        if ((at - slash) % 2 == 0)
            return at + 1;
    }
    return end;
}

/* The end of a value, or of a member with its value: the first comma or closing bracket outside of all
 * brackets. */
static const char *ses_py_skip_value(const char *at, const char *end)
{
    for (int depth = 0; at < end;) {
        if (depth == 0 && (*at == ',' || *at == '}' || *at == ']'))
            return at;
        depth += (*at == '{' || *at == '[') - (*at == '}' || *at == ']');
        at = *at == '"' ? ses_py_skip_string(at, end) : at + 1;
    }
    return end;
}

/* The value of a member of a JSON object that begins at `at`, with blanks around it; NULL: it has no such
 * member. */
static const char *ses_py_member(const char *at, const char *end, const char *name, const char **value_end)
{
    const size_t length = strlen(name);
    for (at = memchr(at, '{', (size_t)(end - at)); at && at < end && *at != '}'; at = *value_end) {
        const char *quote = memchr(at, '"', (size_t)(end - at));
        if (!quote)
            return NULL;
        const char *name_end = ses_py_skip_string(quote, end);
        const char *colon = memchr(name_end, ':', (size_t)(end - name_end));
        if (!colon)
            return NULL;
        *value_end = ses_py_skip_value(colon + 1, end);
        if ((size_t)(name_end - quote) == length + 2 && memcmp(quote + 1, name, length) == 0)
            return colon + 1;
    }
    return NULL;
}

/* How many bytes ses_py_members needs. */
static size_t ses_py_members_room(const ses_session *session)
{
    size_t room = 2;
    for (size_t at = 0; at < ses_session_event_count(session); at++)
        room += ses_session_event(session, at)->json_len + 1;
    return room;
}

/* Writes the values of a member of the events as a JSON array, without those that lack it, and returns its
 * length. Python reads one text several times as fast as the texts of a thousand events. */
static size_t ses_py_members(const ses_session *session, const char *name, char *array)
{
    size_t length = 0;
    array[length++] = '[';
    for (size_t at = 0; at < ses_session_event_count(session); at++) {
        const ses_event *event = ses_session_event(session, at);
        const char *value_end = NULL;
        const char *value = ses_py_member(event->json, event->json + event->json_len, name, &value_end);
        if (!value)
            continue;
        if (length > 1)
            array[length++] = ',';
        memcpy(array + length, value, (size_t)(value_end - value));
        length += (size_t)(value_end - value);
    }
    array[length++] = ']';
    return length;
}
"""


NEEDED = (
    "The package compiles a C library: it needs a C compiler and the headers of Python and of SQLite. "
    "Debian and Ubuntu: apt install gcc make python3-dev libsqlite3-dev; macOS: xcode-select --install"
)


def fetch_sources():
    """Puts the amalgamation of this checkout into csrc/. In an unpacked archive it is there already."""
    if not (ROOT / "tools" / "amalgamate.sh").is_file():
        return
    if not shutil.which("make"):
        raise SystemExit(
            "seslite: from a checkout of the repository it is built with make, which is missing. " + NEEDED
        )
    environment = {
        name: value for name, value in os.environ.items() if name not in ("MAKEFLAGS", "MAKELEVEL", "MFLAGS")
    }
    subprocess.run(["make", "-s", "amalgamation"], cwd=ROOT, env=environment, check=True)
    SOURCES.mkdir(exist_ok=True)
    for name in NAMES:
        shutil.copyfile(ROOT / "build" / "amalgamation" / name, SOURCES / name)
    shutil.copyfile(ROOT / "LICENSE", SOURCES / "LICENSE")


def version():
    """The version of the header."""
    text = (SOURCES / "seslite.h").read_text(encoding="utf-8")
    return ".".join(
        re.search(rf"define SES_VERSION_{part} (\d+)", text)[1] for part in ("MAJOR", "MINOR", "PATCH")
    )


# Python's own flags ask for debug information, which is four fifths of the extension.
STRIPPED = ["-Wl,-S,-x"] if sys.platform == "darwin" else ["-Wl,-s"]


def includes():
    return "".join(f'#include "{name}"\n' for name in HEADERS)


def declarations():
    """The headers as the C preprocessor leaves them: without the system's headers, whose types cffi knows."""
    compiler = shlex.split(os.environ.get("CC") or sysconfig.get_config_var("CC") or "cc")
    with tempfile.TemporaryDirectory() as empty:
        for name in ("stddef.h", "stdint.h"):
            pathlib.Path(empty, name).touch()
        headers = pathlib.Path(empty, "all.h")
        headers.write_text(includes(), encoding="utf-8")
        command = [
            *compiler,
            "-E",
            "-P",
            "-DSES_API=",
            "-nostdinc",
            "-I",
            empty,
            "-I",
            str(SOURCES),
            str(headers),
        ]
        try:
            return subprocess.run(
                command, check=True, capture_output=True, text=True, encoding="utf-8"
            ).stdout
        except OSError as error:
            raise SystemExit(
                f"seslite: the C compiler {command[0]!r} cannot be run: {error.strerror}. {NEEDED}"
            ) from None
        except subprocess.CalledProcessError as error:
            raise SystemExit(f"{error.stderr}\nseslite: {shlex.join(command)} failed. {NEEDED}") from None


def flags_of(prefix, package, fallback):
    """The compiler's and the linker's flags for a library."""

    def ask(variable, option, fallback):
        if variable in os.environ:
            return shlex.split(os.environ[variable])
        try:
            found = subprocess.run(
                [os.environ.get("PKG_CONFIG", "pkg-config"), option, package], capture_output=True, text=True
            )
        except OSError:
            return fallback
        return shlex.split(found.stdout) if found.returncode == 0 else fallback

    return ask(f"{prefix}_CFLAGS", "--cflags", []), ask(f"{prefix}_LIBS", "--libs", [fallback])


def sqlite():
    """The sources, macros, and flags of the compiler and of the linker for SQLite."""
    folder = os.environ.get("SESLITE_SQLITE", "")
    if not folder:
        return [], [], *flags_of("SQLITE", "sqlite3", "-lsqlite3")
    source = pathlib.Path(folder, "sqlite3.c").resolve()
    if not source.is_file():
        raise SystemExit(
            f"seslite: SESLITE_SQLITE is the folder of SQLite's sources, but there is no {source}"
        )
    macros = [("HAVE_USLEEP", "1"), *((f"SQLITE_{name}", value) for name, value in SQLITE_MACROS.items())]
    return [str(source)], macros, ["-I", str(source.parent)], ["-lm"]


def builder():
    """What cffi compiles. (setuptools calls it by name.)"""
    ffi = cffi.FFI()
    ffi.cdef(declarations() + CALLBACKS)
    sources, macros, cflags, libs = sqlite()
    sources.append("csrc/seslite.c")
    for name, package, fallback in ENGINES:
        more_cflags, more_libs = flags_of(name.upper(), package, fallback)
        cflags, libs = cflags + more_cflags, libs + more_libs
        sources.append(f"csrc/seslite_{name}.c")
    ffi.set_source(
        "seslite._seslite",
        includes() + SOURCE,
        sources=sources,
        include_dirs=["csrc"],
        define_macros=[("SES_API", ""), *macros],
        extra_compile_args=["-fvisibility=hidden", "-pthread", *cflags],
        extra_link_args=["-pthread", *STRIPPED, *libs],
    )
    return ffi
