package seslite

// #include "callbacks.h"
import "C"

import (
	"context"
	"iter"
	"time"
)

// SearchOptions are those of Search and SearchAll.
type SearchOptions struct {
	Any          bool      // events with at least one of the words
	Phrase       bool      // the words must follow each other
	Live         bool      // only events that no rewind has taken back
	JSON         bool      // gives each event with its hit
	Since        time.Time // the event's time is this or later
	Before       time.Time // it is earlier than this
	Limit        int       // hits per page; 0: 20; at most 1,000
	Token        string    // the token of the previous page; "": the first page
	SnippetBytes int       // of the text around the words, about; 0: none
	Filter       *Filter   // only in these sessions; nil: in all
}

// A Hit is an event that was found.
type Hit struct {
	User         string
	Session      string
	ID           string
	Author       string
	Seq          int64
	Time         time.Time
	Snippet      string  // a piece of the text in which a word was found first
	SnippetFound int     // the byte of it at which that word begins
	JSON         []byte  // the event, with SearchOptions.JSON, and of what is remembered
	Score        float64 // the part of the words asked for that it has, of what is remembered; otherwise 0
}

// Hits are a page of them. The token leads to the next page; "": it is the last.
type Hits struct {
	Hits    []Hit
	Token   string
	Indexed bool // the index was asked; otherwise the events were read
}

func hitOf(h *C.ses_hit) Hit {
	return Hit{
		User:         C.GoString(h.user),
		Session:      C.GoString(h.session),
		ID:           C.GoString(h.id),
		Author:       C.GoString(h.author),
		Seq:          int64(h.seq),
		Time:         timeOf(h.time_us),
		Snippet:      string(borrowed(h.snippet, h.snippet_len)),
		SnippetFound: int(h.snippet_found),
		JSON:         borrowed(h.json, h.json_len),
		Score:        float64(h.score),
	}
}

func hitsOf(p *C.ses_hits) *Hits {
	made := &Hits{Token: C.GoString(C.ses_hits_token(p)), Indexed: C.ses_hits_indexed(p) != 0}
	for i := C.size_t(0); i < C.ses_hits_count(p); i++ {
		made.Hits = append(made.Hits, hitOf(C.ses_hits_at(p, i)))
	}
	return made
}

func (c *call) searchOptions(o *SearchOptions) *C.ses_search_options {
	return lend(c, &C.ses_search_options{
		size: C.sizeof_ses_search_options,
		flags: flag(o.Any, C.SES_SEARCH_ANY) | flag(o.Phrase, C.SES_SEARCH_PHRASE) |
			flag(o.Live, C.SES_SEARCH_LIVE) | flag(o.JSON, C.SES_SEARCH_JSON),
		since_us:      c.time(o.Since),
		before_us:     c.time(o.Before),
		limit:         C.size_t(max(o.Limit, 0)),
		token:         c.optional(o.Token),
		snippet_bytes: C.size_t(max(o.SnippetBytes, 0)),
		filter:        c.filter(o.Filter),
		timeout_ms:    c.timeout,
		cancel:        c.cancel,
	})
}

// Search finds the events that have all words, in the sessions of an app, of a user or in a single one, as the key says.
// Words are separated by white space, and punctuation is only that. The sessions that were updated last come first.
func (s *Store) Search(ctx context.Context, scope Key, words string, options *SearchOptions) (*Hits, error) {
	if options == nil {
		options = &SearchOptions{}
	}
	var made *Hits
	_, err := s.do(ctx, func(c *call) C.int {
		var hits *C.ses_hits
		text, length := c.bytes([]byte(words))
		code := C.ses_store_search(c.store, c.scope(scope), text, length, c.searchOptions(options), &hits, &c.err)
		if hits != nil {
			defer C.ses_hits_close(hits)
			made = hitsOf(hits)
		}
		return code
	})
	return made, err
}

// SearchAll yields the hits of all pages. An error ends it.
func (s *Store) SearchAll(ctx context.Context, scope Key, words string, options *SearchOptions) iter.Seq2[Hit, error] {
	var o SearchOptions
	if options != nil {
		o = *options
	}
	return pages(func() ([]Hit, bool, error) {
		page, err := s.Search(ctx, scope, words, &o)
		if err != nil {
			return nil, false, err
		}
		o.Token = page.Token
		return page.Hits, page.Token != "", nil
	})
}

// IndexOptions are those of Index.
type IndexOptions struct {
	Rebuild bool // drops the index first, and makes it again
	Drop    bool // only drops it
	// Progress is told the events that are done and about how many there are. An error ends the call.
	Progress func(done, total int64) error
}

// Index makes the index of words, or brings it up to date, and returns how many events were added. Searches use it from
// then on.
func (s *Store) Index(ctx context.Context, options *IndexOptions) (int64, error) {
	o := options
	if o == nil {
		o = &IndexOptions{}
	}
	var events C.int64_t
	_, err := s.do(ctx, func(c *call) C.int {
		made := &C.ses_index_options{
			size:       C.sizeof_ses_index_options,
			flags:      flag(o.Rebuild, C.SES_INDEX_REBUILD) | flag(o.Drop, C.SES_INDEX_DROP),
			timeout_ms: c.timeout,
			cancel:     c.cancel,
		}
		if o.Progress != nil {
			made.progress = (*[0]byte)(C.ses_go_progress)
			made.progress_context = c.callback(&callback{progress: o.Progress})
		}
		return C.ses_store_index(c.store, lend(c, made), &events, &c.err)
	})
	return int64(events), err
}
