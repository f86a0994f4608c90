package seslite

// #include "callbacks.h"
import "C"

import "context"

// Erased is a receipt: what a call has erased from the store, and what it knows to be left. Backups and exports are not
// covered.
type Erased struct {
	Sessions        int64 // deleted; by Redact: other sessions that were redacted
	Events          int64 // deleted or redacted
	StateKeys       int64 // values in stored state, deleted or replaced
	Artifacts       int64 // versions that were deleted
	IndexEvents     int64 // events whose words were taken out of the index
	ForksLeft       int64 // sessions that have copies; -1: they were not looked for
	StateLeft       int64 // Redact: values that the events have set and keep
	ArtifactsLeft   int64 // Redact: versions that the events name and that were not deleted
	CompactionsLeft int64 // Redact: later compactions, whose summaries may repeat the events
	Names           int64 // Redact with Find: names of state keys, titles and labels that were removed
	NamesLeft       int64 // Redact with Find: names and ids in which something is found, and that stay
	DerivedLeft     int64 // events of which a damaged index or tally may still have words or models in the file
}

// receipt lends the room for a receipt, which a call that succeeds copies to out. nil: none is asked for.
func (c *call) receipt(out *Erased) *C.ses_erased {
	if out == nil {
		return nil
	}
	raw := lend(c, &C.ses_erased{size: C.sizeof_ses_erased})
	c.succeeded = func() {
		*out = Erased{
			Sessions:        int64(raw.sessions),
			Events:          int64(raw.events),
			StateKeys:       int64(raw.state_keys),
			Artifacts:       int64(raw.artifacts),
			IndexEvents:     int64(raw.index_events),
			ForksLeft:       int64(raw.forks_left),
			StateLeft:       int64(raw.state_left),
			ArtifactsLeft:   int64(raw.artifacts_left),
			CompactionsLeft: int64(raw.compactions_left),
			Names:           int64(raw.names),
			NamesLeft:       int64(raw.names_left),
			DerivedLeft:     int64(raw.derived_left),
		}
	}
	return raw
}

// RedactOptions are those of Redact.
type RedactOptions struct {
	State   bool   // also the values that the events have set, in the events and in the stored state
	Names   bool   // with State and Find, of all events: also removes keys, the title and labels in whose names it is found
	Forks   bool   // also the copies of the events in other sessions of the app
	DryRun  bool   // changes nothing: only counts what would be redacted
	Anyway  bool   // an outdated session catches up instead of ErrStale
	Version *int64 // by key: ErrStale unless the session has this version
	Secure  bool   // nothing of what was replaced remains in the file and its log
	Text    string // in place of a text; "": "[redacted]"
	Content []byte // in place of the content of one event: an object with the same function calls and responses; nil: none
	// Find finds the next piece that is to be replaced, and then only such pieces are: in text, from the byte from on. It
	// returns the first byte of the piece and the one after it, or a negative number if there is none. An error ends the
	// call. It must not keep the text, nor use the store. nil: events are redacted as a whole.
	Find func(text []byte, from int) (begin, end int, err error)
	// Erased becomes the receipt; nil: none.
	Erased *Erased
}

func (c *call) redactOptions(o *RedactOptions) *C.ses_redact_options {
	made := &C.ses_redact_options{
		size: C.sizeof_ses_redact_options,
		flags: flag(o.State, C.SES_REDACT_STATE) | flag(o.Names, C.SES_REDACT_NAMES) | flag(o.Forks, C.SES_REDACT_FORKS) | flag(o.DryRun, C.SES_REDACT_DRY_RUN) |
			flag(o.Anyway, C.SES_ANYWAY) | flag(o.Version != nil, C.SES_AT_VERSION) | flag(o.Secure, C.SES_SECURE),
		text:       c.optional(o.Text),
		timeout_ms: c.timeout,
		cancel:     c.cancel,
	}
	if o.Version != nil {
		made.version = C.int64_t(*o.Version)
	}
	made.content, made.content_len = c.bytes(o.Content)
	if o.Find != nil {
		made.find = (*C.ses_redact_finder)(C.ses_go_find)
		made.find_context = c.callback(&callback{find: o.Find})
	}
	return lend(c, made)
}

// seqs lends numbers of events. NULL stands for nil, but not for no numbers.
func (c *call) seqs(seqs []int64) (*C.int64_t, C.size_t) {
	if seqs == nil {
		return nil, 0
	}
	made := make([]C.int64_t, len(seqs)+1)
	for i, seq := range seqs {
		made[i] = C.int64_t(seq)
	}
	return lend(c, &made[0]), C.size_t(len(seqs))
}

func (t target) redact(ctx context.Context, seqs []int64, o *RedactOptions) (more bool, err error) {
	if o == nil {
		o = &RedactOptions{}
	}
	code, err := t.do(ctx, func(c *call) C.int {
		numbers, count := c.seqs(seqs)
		if c.session != nil {
			return C.ses_redact(c.session, numbers, count, c.redactOptions(o), c.receipt(o.Erased), &c.err)
		}
		return C.ses_redact_by_key(c.store, c.name, numbers, count, c.redactOptions(o), c.receipt(o.Erased), &c.err)
	})
	return code == C.SES_MORE, err
}

// Redact replaces the contents of events, in one transaction; nil: of all events. Number 0 is the state that the session
// was created with. Numbers, calls and usage stay. With RedactOptions.Secure, more says that the log could not be emptied
// yet.
func (s *Session) Redact(ctx context.Context, seqs []int64, options *RedactOptions) (more bool, err error) {
	return s.target().redact(ctx, seqs, options)
}

// Redact replaces the contents of events of a session.
func (s *Store) Redact(ctx context.Context, key Key, seqs []int64, options *RedactOptions) (more bool, err error) {
	return target{store: s, key: key}.redact(ctx, seqs, options)
}
