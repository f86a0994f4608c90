#include "help/topics.h"

const struct topic topic_table[] = {
    {"store", "The store and the session",
     "Name the file with -f FILE before the command, or in the variable SESLITE_DB. A session is named by "
     "--app, --user and --session. Each of them may be omitted if only one session matches. Otherwise the "
     "command lists the sessions to choose from. The beginning of an id is enough if only one session's id "
     "begins with it, and @ is the session that was written last; the command then says which session it is. With --yes, for append and for artifact put, the id must be complete. To find "
     "a session without its user, the command searches the list of sessions.\n"
     "Commands that only read open the file read-only and never create it. If the store uses a write-ahead "
     "log and no other program has it open, SQLite may leave an empty FILE-wal and a FILE-shm next to it.\n"
     "A store may also be in a PostgreSQL or a MySQL database, if the command was built with POSTGRES=1 or "
     "MYSQL=1. Give its address instead of FILE:\n"
     " postgresql://USER@HOST/DATABASE\n"
     " postgresql:///DATABASE?host=/var/run/postgresql\n"
     " mysql://USER@HOST/DATABASE\n"
     "Other users of the machine can see the command line, so keep a password in ~/.pgpass or PGPASSWORD, or "
     "in MYSQL_PWD, instead. export and import move a store between a file and a server."},
    {"keys", "Keys of files",
     "A store can be encrypted if the command was built with SQLite3 Multiple Ciphers (make SQLITE=...). Its "
     "key is 32 random bytes. --key-fd N reads it from a file descriptor, as raw bytes or as 64 hexadecimal "
     "digits. A key is never an argument, since other users of the machine can see the command line:\n"
     " seslite -f agents.db --key-fd 3 list 3<agents.key\n"
     " seslite -f agents.db --key-fd 3 list 3< <(pass show agents-key)\n"
     "A store that create or import makes has that key. A backup has it, too; --to-key-fd gives the copy "
     "another one, and --plain none. So a backup is also the way to add, change or remove a key. import tries "
     "the key for a store that it reads. What export and html write is not encrypted. The sqlite3 program "
     "cannot read a store with a key."},
    {"points", "Points of a log",
     "A point is a position in the log of a session:\n"
     " N                  after the event number N; 0 is the start\n"
     " start              before the first event: the session as it was created\n"
     " now                after the last event\n"
     " last-turn          before the last turn, which began with a message of the user\n"
     " before:INVOCATION  before the first event of that invocation\n"
     " ID                 after the event with that id; event:ID if the id looks like one of the above"},
    {"times", "Times",
     "A time is a date, a date with a time of day (local time unless a zone follows), a number of seconds "
     "since 1970, or a span of time before now:\n"
     " 2024-01-15\n"
     " 2024-01-15T12:30:00Z    2024-01-15T12:30+02:00    '2024-01-15 12:30'\n"
     " @1705321800\n"
     " 90s    15m    2h    7d    3w\n"
     "Times are printed in local time; tables name the zone in the column title. Set TZ to use another zone, "
     "such as UTC."},
    {"output", "Output",
     "Data goes to standard output, everything else to standard error. Tables are as wide as the terminal. "
     "They are not cut if standard output is not a terminal. Colours are used only on terminals; set "
     "NO_COLOR to disable them.\n"
     "With --json a command prints one JSON value, with --jsonl one value per line. Events are printed byte "
     "for byte as stored. Times in JSON are seconds since 1970.\n"
     "Characters that could control the terminal are made visible: ESC as ^[, others as <U+202E>. In JSON "
     "they are escaped if standard output is a terminal."},
};

const size_t topic_count = sizeof topic_table / sizeof topic_table[0];
