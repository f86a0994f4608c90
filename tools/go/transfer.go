package seslite

// #include "callbacks.h"
import "C"

import (
	"context"
	"io"
)

// ExportOptions are those of Export. The scope is all that its key names: a session, a user, an app, or the whole store.
type ExportOptions struct {
	Scope        Key
	OnlySessions bool // without shared state and artifacts of users
	Skip         bool // leaves out what is damaged, and goes on; needs LeftOut
	// LeftOut is told of each version of an artifact that the lines leave out, since a later version of seslite has made it
	// (ErrUnsupported), and with Skip of what is damaged (ErrCorrupt). An error ends the export.
	LeftOut func(why error) error
	// Progress is told how many sessions and events were written so far. An error ends the export.
	Progress func(sessions, events int64) error
}

// Export writes a store as JSON lines, as of one moment and in constant memory.
func (s *Store) Export(ctx context.Context, w io.Writer, options *ExportOptions) error {
	o := options
	if o == nil {
		o = &ExportOptions{}
	}
	if w == nil {
		return failure(ErrMisuse, "the writer is nil")
	}
	_, err := s.do(ctx, func(c *call) C.int {
		made := &C.ses_export_options{
			size:       C.sizeof_ses_export_options,
			flags:      flag(o.OnlySessions, C.SES_EXPORT_ONLY_SESSIONS) | flag(o.Skip, C.SES_EXPORT_SKIP),
			app:        c.optional(o.Scope.App),
			user:       c.optional(o.Scope.User),
			session:    c.optional(o.Scope.Session),
			timeout_ms: c.timeout,
			cancel:     c.cancel,
		}
		if o.Progress != nil {
			made.progress = (*[0]byte)(C.ses_go_progress)
			made.progress_context = c.callback(&callback{progress: o.Progress})
		}
		if o.LeftOut != nil {
			made.left_out = (*[0]byte)(C.ses_go_left_out)
			made.left_out_context = c.callback(&callback{leftOut: o.LeftOut})
		}
		context := c.callback(&callback{write: func(b []byte) error {
			n, err := w.Write(b)
			if err == nil && n < len(b) {
				err = io.ErrShortWrite
			}
			return err
		}})
		return C.ses_store_export(c.store, lend(c, made), (*[0]byte)(C.ses_go_write), context, &c.err)
	})
	return err
}

// ImportOptions are those of Import.
type ImportOptions struct {
	Update      bool   // as LoadOptions.Update with Follow
	Replace     bool   // as LoadOptions.Replace
	Rename      bool   // as LoadOptions.Rename
	DryRun      bool   // as LoadOptions.DryRun
	Skip        bool   // go on after a session that is refused
	ReplaceKeys bool   // shared keys, and artifacts of users, that differ in the store get the file's
	App         string // put everything into this app
	User        string // and everything of a user under this one
	// Report is told of each session, and of each shared key that has another value in the store. An error ends the
	// import, which returns it; what was reported stays stored.
	Report func(ImportItem) error
}

// An ImportItem is a session, a shared key or an artifact of an import.
type ImportItem struct {
	App      string
	User     string // "": a key of the app
	Session  string // as in the file; "": a shared key, or an artifact of the user
	LoadedAs string // the session's id in this store
	Key      string // a shared key; "": it is not one
	Artifact string // an artifact of the user, or of a session that does not exist; "": it is not one
	Outcome  Outcome
	Events   int64 // events stored
	Line     int64 // where it begins
	Err      error // why it was refused; nil: it was not
}

func importItemOf(i *C.ses_import_item) ImportItem {
	made := ImportItem{
		App:      C.GoString(i.app),
		User:     C.GoString(i.user),
		Session:  C.GoString(i.session),
		LoadedAs: C.GoString(i.loaded_as),
		Key:      C.GoString(i.key),
		Artifact: C.GoString(i.artifact),
		Outcome:  Outcome(i.outcome),
		Events:   int64(i.events),
		Line:     int64(i.line),
	}
	if i.error != nil {
		made.Err = errorOf(i.error.code, i.error)
	}
	return made
}

// ImportReport counts what an import has done, also before it failed.
type ImportReport struct {
	Lines         int64 // lines read
	Made          int64 // sessions that are new
	Equal         int64 // sessions that were there and are equal
	Updated       int64 // sessions that got what they lacked: see LoadedUpdated
	Replaced      int64 // sessions that took the place of another
	Renamed       int64 // sessions that were stored under another id
	Refused       int64 // sessions that were not stored
	Events        int64 // events stored
	Keys          int64 // shared keys written
	KeysKept      int64 // shared keys that keep another value
	Artifacts     int64 // versions of artifacts stored
	ArtifactsKept int64 // artifacts of users that keep other versions
	Unknown       int64 // lines of a kind, and members, that this version does not know and left out
}

// Import reads JSON lines that Export wrote. Each session is stored whole or not at all, and reading the same text twice is
// safe. The reader is also read within transactions: copy a slow source to a file first.
func (s *Store) Import(ctx context.Context, r io.Reader, options *ImportOptions) (ImportReport, error) {
	o := options
	if o == nil {
		o = &ImportOptions{}
	}
	if r == nil {
		return ImportReport{}, failure(ErrMisuse, "the reader is nil")
	}
	report := C.ses_import_report{size: C.sizeof_ses_import_report}
	_, err := s.do(ctx, func(c *call) C.int {
		made := &C.ses_import_options{
			size: C.sizeof_ses_import_options,
			flags: flag(o.Update, C.SES_IMPORT_UPDATE) | flag(o.Replace, C.SES_IMPORT_REPLACE) |
				flag(o.Rename, C.SES_IMPORT_RENAME) | flag(o.DryRun, C.SES_IMPORT_DRY_RUN) | flag(o.Skip, C.SES_IMPORT_SKIP) |
				flag(o.ReplaceKeys, C.SES_IMPORT_REPLACE_KEYS),
			app:        c.optional(o.App),
			user:       c.optional(o.User),
			timeout_ms: c.timeout,
			cancel:     c.cancel,
		}
		if o.Report != nil {
			made.report = (*[0]byte)(C.ses_go_imported)
			made.report_context = c.callback(&callback{imported: o.Report})
		}
		context := c.callback(&callback{read: r.Read})
		return C.ses_store_import(c.store, (*[0]byte)(C.ses_go_read), context, lend(c, made), &report, &c.err)
	})
	return ImportReport{int64(report.lines), int64(report.made), int64(report.equal), int64(report.updated),
		int64(report.replaced), int64(report.renamed), int64(report.refused), int64(report.events), int64(report.keys),
		int64(report.keys_kept), int64(report.artifacts), int64(report.artifacts_kept), int64(report.unknown)}, err
}
