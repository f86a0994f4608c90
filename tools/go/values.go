package seslite

// #include "seslite.h"
import "C"

import (
	"encoding/json"
	"iter"
	"math"
	"time"
)

// A Key names a session. Ids are valid UTF-8 of 1 to 512 bytes. Without Session, a new session gets an id of the store's,
// and other calls mean all sessions of the user, where they say so.
type Key struct {
	App     string
	User    string
	Session string
}

// An Event is a stored event.
type Event struct {
	Seq          int64 // 1, 2, 3 ... in the order of commit
	Time         time.Time
	ID           string
	InvocationID string // "" when the event has none
	Author       string // "" when the event has none
	Branch       string // "" when the event has none
	JSON         json.RawMessage
}

func eventOf(e *C.ses_event) Event {
	return Event{
		Seq:          int64(e.seq),
		Time:         timeOf(e.time_us),
		ID:           C.GoString(e.id),
		InvocationID: C.GoString(e.invocation_id),
		Author:       C.GoString(e.author),
		Branch:       C.GoString(e.branch),
		JSON:         borrowed(e.json, e.json_len),
	}
}

// A Range selects events. Live, time and sequence apply first, then the newest of what is left. The zero Range is all.
type Range struct {
	None     bool      // no events
	Newest   int       // the newest so many; 0: all
	Since    time.Time // those whose time is this or later; zero: all
	FirstSeq int64     // from this sequence number on; 0: from the first
	LastSeq  int64     // up to this sequence number; 0: to the last
	Live     bool      // those that no rewind has taken back
}

func (c *call) rangeOf(r *Range) *C.ses_range {
	if r == nil {
		return nil
	}
	made := &C.ses_range{size: C.sizeof_ses_range, newest: C.int64_t(r.Newest), first_seq: 1, last_seq: math.MaxInt64}
	made.which = flag(r.None, C.SES_RANGE_NONE) | flag(r.Newest != 0, C.SES_RANGE_NEWEST) |
		flag(!r.Since.IsZero(), C.SES_RANGE_SINCE) | flag(r.FirstSeq != 0 || r.LastSeq != 0, C.SES_RANGE_SEQ) |
		flag(r.Live, C.SES_RANGE_LIVE)
	if !r.Since.IsZero() {
		made.since_us = C.int64_t(r.Since.UnixMicro())
	}
	if r.FirstSeq != 0 {
		made.first_seq = C.int64_t(r.FirstSeq)
	}
	if r.LastSeq != 0 {
		made.last_seq = C.int64_t(r.LastSeq)
	}
	return lend(c, made)
}

// A Filter selects the sessions that match every member that is set.
type Filter struct {
	Label         string    // the session has this label
	LabelValue    *string   // with this value; nil: with any
	IDPrefix      string    // its id begins with this
	UpdatedSince  time.Time // its update time is this or later
	UpdatedBefore time.Time // its update time is earlier
	ChangedSince  time.Time // its last write, by the store's clock, was at this time or later
	ChangedBefore time.Time // its last write was earlier
	WithoutLabel  string    // it has no label with this name
	Archived      *bool     // it is in the archive, or it is not; nil: both
	Kinds         Kind      // it is of one of these kinds, joined by |; 0: of any
	Remembered    bool      // some of it is remembered, or it is memory
	ChildOf       *Key      // it is a child of this session, whose App may be empty
}

// A Kind says what a session is.
type Kind uint

// The kinds of sessions.
const (
	Conversation Kind = C.SES_KIND_CONVERSATION
	Child        Kind = C.SES_KIND_CHILD // it belongs to another session, such as that of a sub-agent
	Memory       Kind = C.SES_KIND_MEMORY
)

func (c *call) filter(f *Filter) *C.ses_filter {
	if f == nil {
		return nil
	}
	made := &C.ses_filter{
		size:              C.sizeof_ses_filter,
		label:             c.optional(f.Label),
		id_prefix:         c.optional(f.IDPrefix),
		updated_since_us:  c.time(f.UpdatedSince),
		updated_before_us: c.time(f.UpdatedBefore),
		changed_since_us:  c.time(f.ChangedSince),
		changed_before_us: c.time(f.ChangedBefore),
		without_label:     c.optional(f.WithoutLabel),
		kinds:             C.uint(f.Kinds),
		child_of:          c.link(f.ChildOf),
	}
	if f.Remembered {
		made.remembered = 1
	}
	if f.Archived != nil && *f.Archived {
		made.archived = C.SES_ARCHIVED_ONLY
	} else if f.Archived != nil {
		made.archived = C.SES_ARCHIVED_NO
	}
	if f.LabelValue != nil {
		made.label_value = c.text(*f.LabelValue)
	}
	return lend(c, made)
}

// A Point is a place in the log of a session. The zero Point is the end.
type Point struct {
	kind C.int
	seq  int64
	id   string
}

// AfterSeq is the point after the event of that number; 0: as the session was created.
func AfterSeq(seq int64) Point { return Point{kind: C.SES_POINT_SEQ, seq: seq} }

// AfterEvent is the point after the event of that id.
func AfterEvent(id string) Point { return Point{kind: C.SES_POINT_EVENT, id: id} }

// BeforeInvocation is the point before the first event of that invocation.
func BeforeInvocation(id string) Point { return Point{kind: C.SES_POINT_INVOCATION, id: id} }

// BeforeLastTurn is the point before the last live invocation that a user began.
func BeforeLastTurn() Point { return Point{kind: C.SES_POINT_LAST_TURN} }

// Now is the point after the last event, or the last that the handle knows.
func Now() Point { return Point{} }

func (c *call) point(p Point) *C.ses_point {
	made := &C.ses_point{size: C.sizeof_ses_point, kind: p.kind, seq: C.int64_t(p.seq)}
	if p.kind == C.SES_POINT_EVENT || p.kind == C.SES_POINT_INVOCATION {
		made.id = c.text(p.id)
	}
	return lend(c, made)
}

// pages joins pages into one sequence: each call of next gives a page, and whether there is another.
func pages[T any](next func() ([]T, bool, error)) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for more := true; more; {
			var page []T
			var err error
			if page, more, err = next(); err != nil {
				var none T
				yield(none, err)
				return
			}
			for _, each := range page {
				if !yield(each, nil) {
					return
				}
			}
		}
	}
}
