package seslite

// #include "callbacks.h"
import "C"

import "context"

// BackupOptions are those of Backup.
type BackupOptions struct {
	Replace bool // replace an existing store
	Compact bool // rewrite the content without free pages
	// Progress is told the pages that are copied, and their total. An error ends the backup.
	Progress func(done, total int64) error
}

// Backup copies the whole store, as of one moment, into a file, while readers and writers go on. The file is complete or
// as it was before.
func (s *Store) Backup(ctx context.Context, path string, options *BackupOptions) error {
	o := options
	if o == nil {
		o = &BackupOptions{}
	}
	_, err := s.do(ctx, func(c *call) C.int {
		made := &C.ses_backup_options{
			size:       C.sizeof_ses_backup_options,
			flags:      flag(o.Replace, C.SES_BACKUP_REPLACE) | flag(o.Compact, C.SES_BACKUP_COMPACT),
			timeout_ms: c.timeout,
			cancel:     c.cancel,
		}
		if o.Progress != nil {
			made.progress = (*[0]byte)(C.ses_go_progress)
			made.progress_context = c.callback(&callback{progress: o.Progress})
		}
		return C.ses_store_backup(c.store, c.text(path), lend(c, made), &c.err)
	})
	return err
}

// Copy copies the whole store, as of one moment, into a store in memory, which is independent of it. The options are those
// of Open.
func (s *Store) Copy(options ...Option) (*Store, error) {
	if err := s.begin(background); err != nil {
		return nil, err
	}
	defer s.leave()
	return open(options, func(c *call, o *opening, store **C.ses_store) C.int {
		return C.ses_open_copy(s.p, &o.options, store, &c.err)
	})
}

// A CheckLevel says how much is checked. Each includes those before it.
type CheckLevel int

const (
	CheckQuick CheckLevel = C.SES_CHECK_QUICK // the pages of the file, without its indexes
	CheckFull  CheckLevel = C.SES_CHECK_FULL  // also the indexes, and that the row exists to which each row belongs
	CheckLog   CheckLevel = C.SES_CHECK_LOG   // also every row: the logs, all that follows from them, and artifacts
)

// A Problem is one that a check has found.
type Problem struct {
	// Kind is a word for the part of the store: "page", "index", "reference" and so on. "newer" is no damage: a later version
	// of seslite has made it, and this one cannot check it.
	Kind    string
	App     string // "": it has none, or it is unknown
	User    string
	Session string
	Seq     int64 // the event's number; 0: it is not about an event
	Message string
}

func problemOf(p *C.ses_problem) Problem {
	return Problem{C.GoString(C.ses_problem_name(p.kind)), C.GoString(p.app), C.GoString(p.user), C.GoString(p.session),
		int64(p.seq), C.GoString(p.message)}
}

// CheckOptions are those of Check.
type CheckOptions struct {
	Level CheckLevel
	Limit int // the check ends after so many problems; 0: 100
	// Progress is told with CheckLog about how many sessions were checked, and their total. An error ends the check.
	Progress func(done, total int64) error
}

// Check checks the store as of one moment and changes nothing. No problem means that the store is sound.
func (s *Store) Check(ctx context.Context, options *CheckOptions) ([]Problem, error) {
	o := options
	if o == nil {
		o = &CheckOptions{}
	}
	var found []Problem
	_, err := s.do(ctx, func(c *call) C.int {
		made := &C.ses_check_options{
			size:       C.sizeof_ses_check_options,
			level:      C.int(o.Level),
			limit:      C.int64_t(o.Limit),
			report:     (*[0]byte)(C.ses_go_problem),
			timeout_ms: c.timeout,
			cancel:     c.cancel,
		}
		made.report_context = c.callback(&callback{problem: func(p Problem) error {
			found = append(found, p)
			return nil
		}})
		if o.Progress != nil {
			made.progress = (*[0]byte)(C.ses_go_progress)
			made.progress_context = c.callback(&callback{progress: o.Progress})
		}
		var problems C.int64_t
		return C.ses_store_check(c.store, lend(c, made), &problems, &c.err)
	})
	return found, err
}
