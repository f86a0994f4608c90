package seslite

// #include "seslite.h"
import "C"

import (
	"context"
	"encoding/json"
	"iter"
	"time"
)

// An Order is one in which sessions are listed.
type Order int

const (
	NewestFirst  Order = C.SES_ORDER_NEWEST  // newest update first
	OldestFirst  Order = C.SES_ORDER_OLDEST  // oldest update first
	CreatedFirst Order = C.SES_ORDER_CREATED // in the order of creation
	ChangedFirst Order = C.SES_ORDER_CHANGED // last written first, by the store's clock
)

// ListOptions are those of List and Sessions.
type ListOptions struct {
	Order   Order
	Limit   int     // sessions per page; 0: 100; at most 10,000
	Token   string  // the token of the previous page; "": the first page
	NoState bool    // without state
	Filter  *Filter // nil: all sessions

	Preview      bool // with the previews of the sessions
	PreviewBytes int  // the most bytes of a text in them; 0: 200; at most 4,096
}

// A Preview says what a conversation is about, as it is stored at the moment of the list. Its texts are those of
// live events, without thoughts; "": there is none.
type Preview struct {
	Last         string // the newest text
	LastAuthor   string
	LastSeq      int64  // the number of the event with that text; 0: there is none
	PendingCalls int    // the function calls after that text that wait for a response
	First        string // of a session without a title: the first text of the user
}

// A Summary is a session of a list: all but its events.
type Summary struct {
	Key      Key
	Version  int64
	Stored   int64 // the number of stored events
	LastSeq  int64 // the number of the last event; 0 before the first
	Created  time.Time
	Updated  time.Time
	Changed  time.Time // when it was last written to, by the store's clock
	Expires  time.Time // zero: never
	Archived time.Time // zero: it is not
	Kind     Kind
	// RememberedSeq is the number of the last event that is remembered; 0: none is.
	RememberedSeq int64
	Title         string
	Labels        map[string]string
	State         json.RawMessage // the merged state; nil with NoState
	Preview       *Preview        // nil unless ListOptions.Preview is set
}

// A Page is a part of a list. Its token leads to the next one; "": it is the last.
type Page struct {
	Sessions []Summary
	Token    string
}

func (c *call) listOptions(o *ListOptions) *C.ses_list_options {
	return lend(c, &C.ses_list_options{
		size:          C.sizeof_ses_list_options,
		order:         C.int(o.Order),
		limit:         C.size_t(max(o.Limit, 0)),
		token:         c.optional(o.Token),
		flags:         flag(o.NoState, C.SES_LIST_NO_STATE) | flag(o.Preview, C.SES_LIST_PREVIEW),
		filter:        c.filter(o.Filter),
		preview_bytes: C.size_t(max(o.PreviewBytes, 0)),
		timeout_ms:    c.timeout,
		cancel:        c.cancel,
	})
}

func archivedOf(p *C.ses_session) time.Time {
	if us := C.ses_session_archived_us(p); us != 0 {
		return timeOf(us)
	}
	return time.Time{}
}

func previewOf(p *C.ses_preview) *Preview {
	if p == nil {
		return nil
	}
	return &Preview{
		Last:         string(copied(p.last)),
		LastAuthor:   C.GoString(p.last_author),
		LastSeq:      int64(p.last_seq),
		PendingCalls: int(p.pending_calls),
		First:        string(copied(p.first)),
	}
}

// summary copies a session of a page.
func (c *call) summary(p *C.ses_session, withState bool) (Summary, C.int) {
	made := Summary{
		Key:           Key{C.GoString(C.ses_session_app(p)), C.GoString(C.ses_session_user(p)), C.GoString(C.ses_session_id(p))},
		Version:       int64(C.ses_session_version(p)),
		Stored:        int64(C.ses_session_stored(p)),
		LastSeq:       int64(C.ses_session_last_seq(p)),
		Created:       timeOf(C.ses_session_created_us(p)),
		Updated:       timeOf(C.ses_session_updated_us(p)),
		Expires:       timeOf(C.ses_session_expires_us(p)),
		Title:         C.GoString(C.ses_session_title(p)),
		Archived:      archivedOf(p),
		Kind:          Kind(C.ses_session_kind(p)),
		RememberedSeq: int64(C.ses_session_remembered_seq(p)),
		Labels:        labelsOf(p),
	}
	if !withState {
		return made, C.SES_OK
	}
	var text *C.char
	var length C.size_t
	code := C.ses_state_json(p, &text, &length, &c.err)
	made.State = borrowed(text, length)
	return made, code
}

// List returns one page of the sessions of a user, or of all users of the app if user is "".
func (s *Store) List(ctx context.Context, app, user string, options *ListOptions) (*Page, error) {
	if options == nil {
		options = &ListOptions{}
	}
	made := &Page{}
	_, err := s.do(ctx, func(c *call) C.int {
		var page *C.ses_page
		code := C.ses_list(c.store, c.text(app), c.optional(user), c.listOptions(options), &page, &c.err)
		defer C.ses_page_close(page)
		for i := C.size_t(0); code == C.SES_OK && i < C.ses_page_count(page); i++ {
			var summary Summary
			summary, code = c.summary(C.ses_page_session(page, i), !options.NoState)
			summary.Changed = timeOf(C.ses_page_changed_us(page, i))
			summary.Preview = previewOf(C.ses_page_preview(page, i))
			made.Sessions = append(made.Sessions, summary)
		}
		if code == C.SES_OK {
			made.Token = C.GoString(C.ses_page_token(page))
		}
		return code
	})
	if err != nil {
		return nil, err
	}
	return made, nil
}

// Sessions yields the sessions of all pages. An error ends it.
func (s *Store) Sessions(ctx context.Context, app, user string, options *ListOptions) iter.Seq2[Summary, error] {
	var o ListOptions
	if options != nil {
		o = *options
	}
	return pages(func() ([]Summary, bool, error) {
		page, err := s.List(ctx, app, user, &o)
		if err != nil {
			return nil, false, err
		}
		o.Token = page.Token
		return page.Sessions, page.Token != "", nil
	})
}

// CountSessions counts the sessions of a user, or of all users of the app if user is "".
func (s *Store) CountSessions(ctx context.Context, app, user string, filter *Filter) (int64, error) {
	var count C.int64_t
	_, err := s.do(ctx, func(c *call) C.int {
		return C.ses_list_count(c.store, c.text(app), c.optional(user), c.filter(filter), c.options(), &count, &c.err)
	})
	return int64(count), err
}

// NamesOptions are those of Apps and Users.
type NamesOptions struct {
	After  string // only names after this one, which need not exist; "": from the first
	Prefix string // only names that begin with this
	Limit  int    // names that are read at once; 0: 100; at most 10,000
}

// names yields the names of all pages.
func (s *Store) names(ctx context.Context, options *NamesOptions,
	list func(c *call, o *C.ses_names_options, names **C.ses_names) C.int) iter.Seq2[string, error] {
	var o NamesOptions
	if options != nil {
		o = *options
	}
	return pages(func() (page []string, more bool, err error) {
		_, err = s.do(ctx, func(c *call) C.int {
			var names *C.ses_names
			code := list(c, lend(c, &C.ses_names_options{
				size:       C.sizeof_ses_names_options,
				limit:      C.size_t(max(o.Limit, 0)),
				after:      c.optional(o.After),
				prefix:     c.optional(o.Prefix),
				timeout_ms: c.timeout,
				cancel:     c.cancel,
			}), &names)
			if code != C.SES_OK {
				return code
			}
			defer C.ses_names_close(names)
			for i := C.size_t(0); i < C.ses_names_count(names); i++ {
				page = append(page, C.GoString(C.ses_names_at(names, i)))
			}
			o.After = C.GoString(C.ses_names_after(names))
			more = o.After != ""
			return code
		})
		return page, more, err
	})
}

// Apps yields the names of the apps, in the order of their bytes.
func (s *Store) Apps(ctx context.Context, options *NamesOptions) iter.Seq2[string, error] {
	return s.names(ctx, options, func(c *call, o *C.ses_names_options, names **C.ses_names) C.int {
		return C.ses_list_apps(c.store, o, names, &c.err)
	})
}

// Users yields the names of the users of an app, in the order of their bytes.
func (s *Store) Users(ctx context.Context, app string, options *NamesOptions) iter.Seq2[string, error] {
	return s.names(ctx, options, func(c *call, o *C.ses_names_options, names **C.ses_names) C.int {
		return C.ses_list_users(c.store, c.text(app), o, names, &c.err)
	})
}
