package seslite

// #include "callbacks.h"
import "C"

import (
	"context"
	"iter"
)

// FindOptions are those of Find and FindAll.
type FindOptions struct {
	IgnoreCase bool   // ignores the case of ASCII letters in the text
	Limit      int    // findings per page, about; 0: 100; at most 10,000
	Token      string // the token of the previous page; "": the first page
	// Find finds the next piece, as in RedactOptions, in place of a text, which is "" then.
	Find func(text []byte, from int) (begin, end int, err error)
}

// A Found says where a text was found.
type Found int

const (
	FoundID       = Found(C.SES_FOUND_ID)       // the id of the session, the user or the app
	FoundParent   = Found(C.SES_FOUND_PARENT)   // the session from which it was forked, or its user
	FoundTitle    = Found(C.SES_FOUND_TITLE)    // the title
	FoundLabel    = Found(C.SES_FOUND_LABEL)    // the name or value of a label
	FoundKey      = Found(C.SES_FOUND_KEY)      // the name of a state key
	FoundValue    = Found(C.SES_FOUND_VALUE)    // the value of a state key
	FoundInitial  = Found(C.SES_FOUND_INITIAL)  // the state that the session was created with
	FoundBase     = Found(C.SES_FOUND_BASE)     // the state before the first event that was not pruned
	FoundEvent    = Found(C.SES_FOUND_EVENT)    // an event
	FoundArtifact = Found(C.SES_FOUND_ARTIFACT) // an artifact's name, type, display name or metadata
	FoundBytes    = Found(C.SES_FOUND_BYTES)    // the bytes of an artifact
	FoundDraft    = Found(C.SES_FOUND_DRAFT)    // the draft of the session
	FoundInput    = Found(C.SES_FOUND_INPUT)    // an input in its inbox
)

// A Finding is a place in which something was found.
type Finding struct {
	Kind    Found
	App     string
	User    string // "": it belongs to the app
	Session string // "": it belongs to the app or the user
	Name    string // of the key, the label or the artifact
	Seq     int64  // of the event; 0: none
	Version int64  // of the artifact; -1: none
	Text    string // what is around the first piece that was found there; "": it is no text
	// TextFound is the byte of Text at which the piece begins.
	TextFound int
}

// Findings are a page of them. The token leads to the next page; "": it is the last.
type Findings struct {
	Findings []Finding
	Token    string
}

func findingOf(f *C.ses_finding) Finding {
	return Finding{
		Kind:      Found(f.kind),
		App:       C.GoString(f.app),
		User:      C.GoString(f.user),
		Session:   C.GoString(f.session),
		Name:      C.GoString(f.name),
		Seq:       int64(f.seq),
		Version:   int64(f.version),
		Text:      string(borrowed(f.text, f.text_len)),
		TextFound: int(f.text_found),
	}
}

func findingsOf(p *C.ses_findings) *Findings {
	made := &Findings{Token: C.GoString(C.ses_findings_token(p))}
	for i := C.size_t(0); i < C.ses_findings_count(p); i++ {
		made.Findings = append(made.Findings, findingOf(C.ses_findings_at(p, i)))
	}
	return made
}

func (c *call) findOptions(o *FindOptions) *C.ses_find_options {
	made := &C.ses_find_options{
		size:       C.sizeof_ses_find_options,
		flags:      flag(o.IgnoreCase, C.SES_FIND_IGNORE_CASE),
		limit:      C.size_t(max(o.Limit, 0)),
		token:      c.optional(o.Token),
		timeout_ms: c.timeout,
		cancel:     c.cancel,
	}
	if o.Find != nil {
		made.find = (*C.ses_redact_finder)(C.ses_go_find)
		made.find_context = c.callback(&callback{find: o.Find})
	}
	return lend(c, made)
}

// Find finds a text wherever a session, a user or an app has it, as the key says, or the whole store, if the key is
// empty: in ids, titles, labels, state and the names of its keys, events and artifacts. A request of somebody who asks
// for their data begins with it. A page may have no findings, and yet a token.
func (s *Store) Find(ctx context.Context, scope Key, text string, options *FindOptions) (*Findings, error) {
	if options == nil {
		options = &FindOptions{}
	}
	var made *Findings
	_, err := s.do(ctx, func(c *call) C.int {
		var findings *C.ses_findings
		var key *C.ses_key
		if scope != (Key{}) {
			key = c.scope(scope)
		}
		var wanted *C.char
		var length C.size_t
		if options.Find == nil {
			wanted, length = c.bytes([]byte(text))
		}
		code := C.ses_store_find(c.store, key, wanted, length, c.findOptions(options), &findings, &c.err)
		if findings != nil {
			defer C.ses_findings_close(findings)
			made = findingsOf(findings)
		}
		return code
	})
	return made, err
}

// FindAll yields the findings of all pages. An error ends it.
func (s *Store) FindAll(ctx context.Context, scope Key, text string, options *FindOptions) iter.Seq2[Finding, error] {
	var o FindOptions
	if options != nil {
		o = *options
	}
	return pages(func() ([]Finding, bool, error) {
		page, err := s.Find(ctx, scope, text, &o)
		if err != nil {
			return nil, false, err
		}
		o.Token = page.Token
		return page.Findings, page.Token != "", nil
	})
}
