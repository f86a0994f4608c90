package seslite

// #include "seslite.h"
import "C"

import (
	"context"
	"time"
	"unsafe"
)

var background = context.Background()

// Removed is the value that removes a key of a state: a JSON string.
const Removed = `"__ADK_SENTINEL_REMOVED__"`

// Version returns the version of the library.
func Version() string { return C.GoString(C.ses_version()) }

// VersionNumber returns the version of the library as a number: 1002003 is 1.2.3.
func VersionNumber() int { return int(C.ses_version_number()) }

// Info has facts about a store.
type Info struct {
	Engine        string // "sqlite" or "postgresql"
	Path          string // as it was given to Open
	SchemaVersion int    // of the stored data
	ReadOnly      bool
	JournalMode   string // the mode in use: "wal", "delete" or "memory"
	JournalReason string // why the mode is not WAL; "" if it is
	SQLiteVersion string // of the SQLite in use: "3.40.1"
	SQLiteBugs    string // corruption bugs of that version that concern a store; "" if none
}

// Info returns facts about the store.
func (s *Store) Info() (Info, error) {
	info := C.ses_info{size: C.sizeof_ses_info}
	var facts Info
	_, err := s.do(background, func(c *call) C.int {
		code := C.ses_store_info(c.store, &info, &c.err)
		if code == C.SES_OK {
			facts = Info{C.GoString(info.engine), C.GoString(info.path), int(info.schema_version), info.read_only != 0,
				C.GoString(info.sqlite.journal_mode), C.GoString(info.sqlite.journal_reason),
				C.GoString(info.sqlite.version), C.GoString(info.sqlite.bugs)}
		}
		return code
	})
	return facts, err
}

// Stats count the work of a store since it was opened.
type Stats struct {
	Events       int64 // events stored
	Commits      int64 // write transactions; Events / Commits is how many share one on average
	WriteCalls   int64 // calls that wrote or tried to
	WriteWaits   int64 // write calls that waited for other write calls
	ReadCalls    int64 // calls that read
	ReaderWaits  int64 // waits for a reading connection because all were in use
	ReadersOpen  int64 // reading connections that are open
	ReadersInUse int64 // of them, those that a call uses now
	SQLite       SQLiteStats
}

// SQLiteStats are those of a store in a file or in memory.
type SQLiteStats struct {
	BusyWaits      int64         // pauses for locks that other processes held
	BusyTime       time.Duration // the time of these pauses
	CacheHits      int64         // pages found in SQLite's page caches
	CacheMisses    int64         // pages read from the file
	Checkpoints    int64         // checkpoints that ran
	CheckpointTime time.Duration // their time
	CheckpointTurn time.Duration // the part of it in which writers waited
	WALPages       int64         // pages in use in the write-ahead log at this store's last commit
	WALBytes       int64         // size of the log file
	FileBytes      int64         // size of the database file; 0 in memory
}

func micros(us C.int64_t) time.Duration { return time.Duration(us) * time.Microsecond }

// Stats returns what the store has done.
func (s *Store) Stats() (Stats, error) {
	t := C.ses_stats{size: C.sizeof_ses_stats}
	_, err := s.do(background, func(c *call) C.int { return C.ses_store_stats(c.store, &t, &c.err) })
	q := &t.sqlite
	return Stats{int64(t.events), int64(t.commits), int64(t.write_calls), int64(t.write_waits), int64(t.read_calls),
		int64(t.reader_waits), int64(t.readers_open), int64(t.readers_in_use),
		SQLiteStats{int64(q.busy_waits), micros(q.busy_us), int64(q.cache_hits), int64(q.cache_misses), int64(q.checkpoints),
			micros(q.checkpoint_us), micros(q.checkpoint_turn_us), int64(q.wal_pages), int64(q.wal_bytes), int64(q.file_bytes)}}, err
}

// Interrupt ends the calls of other goroutines that read from the store now, or wait for a lease or an event.
func (s *Store) Interrupt() error {
	_, err := s.do(background, func(c *call) C.int { return C.ses_store_interrupt(c.store, &c.err) })
	return err
}

// NewID makes an id as the store does, for events and function calls.
func (s *Store) NewID() (string, error) {
	room := make([]byte, C.SES_ID_MAX+1)
	_, err := s.do(background, func(c *call) C.int {
		return C.ses_store_make_id(c.store, (*C.char)(unsafe.Pointer(&room[0])), C.size_t(len(room)), &c.err)
	})
	return C.GoString((*C.char)(unsafe.Pointer(&room[0]))), err
}

// Quote returns a text as a JSON string, as the library writes strings.
func (s *Store) Quote(text string) ([]byte, error) {
	var json owned
	_, err := s.do(background, func(c *call) C.int {
		bytes, length := c.bytes([]byte(text))
		return C.ses_text_quote(c.store, bytes, length, &json.text, &json.len, &c.err)
	})
	return json.take(), err
}

// CutText returns the longest beginning of a text that has at most limit bytes and consists of whole characters, and
// whether that is not all of it.
func CutText(text string, limit int) (string, bool) {
	var cut C.int
	bytes := []byte(text)
	n := C.ses_text_cut((*C.char)(unsafe.Pointer(unsafe.SliceData(append(bytes, 0)))), C.size_t(len(bytes)),
		C.size_t(max(limit, 0)), &cut)
	return text[:int(n)], cut != 0
}
