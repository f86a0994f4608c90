package seslite

// #include "callbacks.h"
import "C"

import (
	"context"
	"iter"
	"time"
)

// UsageOptions say by what the use of tokens is added up, and of which calls.
type UsageOptions struct {
	ByApp        bool
	ByUser       bool
	BySession    bool // by the id of the session, which two users may have
	ByDay        bool // by the day of the event's time
	ByModel      bool
	ByInvocation bool           // reads all events of the scope
	Since        time.Time      // the event's time is this or later; zero: any
	Before       time.Time      // it is earlier than this; zero: any
	Zone         *time.Location // in which days begin; nil: UTC
	Limit        int            // rows per page; 0: 100; at most 10,000
	Token        string         // the token of the previous page; "": the first page
	Filter       *Filter        // only of these sessions; nil: of all
}

// A UsageRow is model calls that were added up. A text by which they were not is empty, and a count that no event has is 0.
type UsageRow struct {
	App        string
	User       string
	Session    string
	Day        string // as in 2024-01-15
	Model      string
	Invocation string
	Calls      int64 // events with usageMetadata
	Prompt     int64 // the cached tokens included
	Cached     int64
	Candidates int64
	Thoughts   int64
	ToolUse    int64
	Total      int64
	Odd        int64 // counts that are not integers from 0 to 2^53 - 1, and were taken as absent
	First      time.Time
	Last       time.Time
}

// A UsagePage is a page of rows, in the order of their texts. The token leads to the next page; "": it is the last.
type UsagePage struct {
	Rows  []UsageRow
	Sum   UsageRow // of all rows, also of those on other pages
	Token string
}

func usageRowOf(r *C.ses_usage_row) UsageRow {
	made := UsageRow{
		App:        C.GoString(r.app),
		User:       C.GoString(r.user),
		Session:    C.GoString(r.session),
		Day:        C.GoString(r.day),
		Model:      C.GoString(r.model),
		Invocation: C.GoString(r.invocation),
		Calls:      int64(r.calls),
		Prompt:     int64(r.prompt),
		Cached:     int64(r.cached),
		Candidates: int64(r.candidates),
		Thoughts:   int64(r.thoughts),
		ToolUse:    int64(r.tool_use),
		Total:      int64(r.total),
		Odd:        int64(r.odd),
	}
	if made.Calls > 0 {
		made.First, made.Last = timeOf(r.first_us), timeOf(r.last_us)
	}
	return made
}

func usagePageOf(p *C.ses_usage_rows) *UsagePage {
	made := &UsagePage{Sum: usageRowOf(C.ses_usage_rows_sum(p)), Token: C.GoString(C.ses_usage_rows_token(p))}
	for i := C.size_t(0); i < C.ses_usage_rows_count(p); i++ {
		made.Rows = append(made.Rows, usageRowOf(C.ses_usage_rows_at(p, i)))
	}
	return made
}

func (c *call) usageOptions(o *UsageOptions) *C.ses_usage_options {
	made := &C.ses_usage_options{
		size: C.sizeof_ses_usage_options,
		flags: flag(o.ByApp, C.SES_USAGE_BY_APP) | flag(o.ByUser, C.SES_USAGE_BY_USER) |
			flag(o.BySession, C.SES_USAGE_BY_SESSION) | flag(o.ByDay, C.SES_USAGE_BY_DAY) |
			flag(o.ByModel, C.SES_USAGE_BY_MODEL) | flag(o.ByInvocation, C.SES_USAGE_BY_INVOCATION),
		since_us:   c.time(o.Since),
		before_us:  c.time(o.Before),
		limit:      C.size_t(max(o.Limit, 0)),
		token:      c.optional(o.Token),
		timeout_ms: c.timeout,
		cancel:     c.cancel,
		filter:     c.filter(o.Filter),
	}
	if o.Zone != nil {
		made.zone = (*[0]byte)(C.ses_go_zone)
		made.zone_context = c.callback(&callback{zone: o.Zone})
	}
	return lend(c, made)
}

// Usage adds up the tokens that models have used: in the whole store, an app, a user or a single session, as the scope
// says. Events that a rewind has taken back count; those that were deleted, cut or pruned do not. A store that keeps a
// tally answers much sooner.
func (s *Store) Usage(ctx context.Context, scope Key, options *UsageOptions) (*UsagePage, error) {
	if options == nil {
		options = &UsageOptions{}
	}
	var made *UsagePage
	_, err := s.do(ctx, func(c *call) C.int {
		var rows *C.ses_usage_rows
		code := C.ses_store_usage(c.store, c.scope(scope), c.usageOptions(options), &rows, &c.err)
		if rows != nil {
			defer C.ses_usage_rows_close(rows)
			made = usagePageOf(rows)
		}
		return code
	})
	return made, err
}

// UsageAll yields the rows of all pages. An error ends it.
func (s *Store) UsageAll(ctx context.Context, scope Key, options *UsageOptions) iter.Seq2[UsageRow, error] {
	var o UsageOptions
	if options != nil {
		o = *options
	}
	return pages(func() ([]UsageRow, bool, error) {
		page, err := s.Usage(ctx, scope, &o)
		if err != nil {
			return nil, false, err
		}
		o.Token = page.Token
		return page.Rows, page.Token != "", nil
	})
}

// TallyOptions are those of Tally.
type TallyOptions struct {
	Rebuild bool // drops the tally first, and makes it again
	Drop    bool // only drops it
	// Progress is told the events that are done and about how many there are. An error ends the call.
	Progress func(done, total int64) error
}

// Tally makes the table with which Usage takes milliseconds, or brings it up to date, and returns how many events it has
// looked at.
func (s *Store) Tally(ctx context.Context, options *TallyOptions) (int64, error) {
	o := options
	if o == nil {
		o = &TallyOptions{}
	}
	var events C.int64_t
	_, err := s.do(ctx, func(c *call) C.int {
		made := &C.ses_tally_options{
			size:       C.sizeof_ses_tally_options,
			flags:      flag(o.Rebuild, C.SES_TALLY_REBUILD) | flag(o.Drop, C.SES_TALLY_DROP),
			timeout_ms: c.timeout,
			cancel:     c.cancel,
		}
		if o.Progress != nil {
			made.progress = (*[0]byte)(C.ses_go_progress)
			made.progress_context = c.callback(&callback{progress: o.Progress})
		}
		return C.ses_store_tally(c.store, lend(c, made), &events, &c.err)
	})
	return int64(events), err
}
