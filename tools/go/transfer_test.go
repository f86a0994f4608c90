package seslite_test

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"example.org/seslite"
)

func exported(t *testing.T, store *seslite.Store, options *seslite.ExportOptions) []byte {
	var lines bytes.Buffer
	must(t, store.Export(ctx, &lines, options))
	return lines.Bytes()
}

func TestExportAndImport(t *testing.T) {
	store, _ := openFile(t)
	turns(t, store, key, 3)
	_, err := store.SaveArtifact(ctx, key, "a.txt", strings.NewReader("hello"), nil)
	must(t, err)
	must(t, store.ChangeSharedState(ctx, "app", "", []byte(`{"x":1}`), nil))
	sessions := int64(0)
	lines := exported(t, store, &seslite.ExportOptions{Progress: func(s, _ int64) error {
		sessions = s
		return nil
	}})
	same(t, sessions, 1)
	only := exported(t, store, &seslite.ExportOptions{Scope: key, OnlySessions: true})
	same(t, len(only) < len(lines), true)

	copied := memory(t)
	var items []seslite.ImportItem
	report, err := copied.Import(ctx, iotest.OneByteReader(bytes.NewReader(lines)), &seslite.ImportOptions{
		Report: func(item seslite.ImportItem) error {
			items = append(items, item)
			return nil
		},
	})
	must(t, err)
	same(t, []any{report.Made, report.Events, report.Keys, report.Artifacts}, "[1 6 1 1]")
	same(t, []any{len(items), items[0].Session, items[0].Outcome}, "[1 s 0]")
	same(t, bytes.Equal(exported(t, copied, nil), lines), true)

	_, err = copied.Append(ctx, key, event("", ""), nil)
	must(t, err)
	_, err = copied.Import(ctx, bytes.NewReader(lines), nil)
	got(t, err, seslite.ErrExists)
	report, err = copied.Import(ctx, bytes.NewReader(lines), &seslite.ImportOptions{Skip: true, Report: func(item seslite.ImportItem) error {
		got(t, item.Err, seslite.ErrExists)
		return nil
	}})
	must(t, err)
	same(t, report.Refused, 1)
	stop := errors.New("enough")
	_, err = memory(t).Import(ctx, bytes.NewReader(lines), &seslite.ImportOptions{Report: func(seslite.ImportItem) error { return stop }})
	same(t, errors.Is(err, stop), true)
	report, err = copied.Import(ctx, bytes.NewReader(lines), &seslite.ImportOptions{Rename: true, App: "other", DryRun: true})
	must(t, err)
	same(t, report.Made, 1)
	_, err = copied.Import(ctx, bytes.NewReader(lines[:len(lines)-20]), nil)
	same(t, err != nil, true)
}

func TestAnExportGoesOnAfterDamage(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	store, err := seslite.Open(path)
	must(t, err)
	for _, id := range []string{"sound", "torn"} {
		session := create(t, store, seslite.Key{App: "app", User: "user", Session: id}, "")
		_, err = session.Append(ctx, []byte(`{"id":"`+id+`","author":"a"}`), nil)
		must(t, err)
	}
	must(t, store.Close())
	file, err := os.ReadFile(path)
	must(t, err)
	torn := []byte(`"id":"torn","author":"a"}`)
	file[bytes.Index(file, torn)+len(torn)-1] = ']'
	must(t, os.WriteFile(path, file, 0o600))

	store, err = seslite.Open(path)
	must(t, err)
	defer func() { must(t, store.Close()) }()
	got(t, store.Export(ctx, io.Discard, nil), seslite.ErrCorrupt)
	got(t, store.Export(ctx, io.Discard, &seslite.ExportOptions{Skip: true}), seslite.ErrMisuse)
	var lines bytes.Buffer
	leftOut := 0
	must(t, store.Export(ctx, &lines, &seslite.ExportOptions{Skip: true, LeftOut: func(why error) error {
		leftOut++
		got(t, why, seslite.ErrCorrupt)
		same(t, strings.Contains(why.Error(), "torn"), true)
		return nil
	}}))
	same(t, []any{leftOut, strings.Contains(lines.String(), "sound"), strings.Contains(lines.String(), "torn")}, "[1 true false]")
	err = store.Export(ctx, io.Discard, &seslite.ExportOptions{Skip: true, LeftOut: func(error) error { return errFull }})
	same(t, errors.Is(err, errFull), true)
}

type failing struct{ after int }

var errFull = errors.New("the pipe is full")

func (f *failing) Write(b []byte) (int, error) {
	if f.after -= len(b); f.after < 0 {
		return 0, errFull
	}
	return len(b), nil
}

type short struct{}

func (short) Write(b []byte) (int, error) { return len(b) / 2, nil }

type lying struct{}

func (lying) Read(b []byte) (int, error) { return len(b) + 1, nil }

type panicking struct{}

func (panicking) Read([]byte) (int, error)  { panic("reader") }
func (panicking) Write([]byte) (int, error) { panic("writer") }

func TestErrorsOfReadersAndWritersComeBack(t *testing.T) {
	store := memory(t)
	turns(t, store, key, 2)
	err := store.Export(ctx, &failing{10}, nil)
	got(t, err, seslite.ErrIO)
	same(t, errors.Is(err, errFull), true)
	same(t, errors.Is(store.Export(ctx, short{}, nil), io.ErrShortWrite), true)
	_, err = store.Import(ctx, iotest.ErrReader(errFull), nil)
	same(t, errors.Is(err, errFull), true)
	_, err = store.Import(ctx, lying{}, nil)
	got(t, err, seslite.ErrMisuse)
	_, err = store.SaveArtifact(ctx, key, "a", iotest.TimeoutReader(strings.NewReader(strings.Repeat("x", 1<<20))), nil)
	same(t, errors.Is(err, iotest.ErrTimeout), true)
	got(t, store.Export(ctx, nil, nil), seslite.ErrMisuse)
	_, err = store.Import(ctx, nil, nil)
	got(t, err, seslite.ErrMisuse)
	_, err = store.SaveArtifact(ctx, key, "a", nil, nil)
	got(t, err, seslite.ErrMisuse)
	for name, call := range map[string]func(){
		"writer": func() { _ = store.Export(ctx, panicking{}, nil) },
		"reader": func() { _, _ = store.Import(ctx, panicking{}, nil) },
		"progress": func() {
			_ = store.Export(ctx, io.Discard, &seslite.ExportOptions{Progress: func(_, _ int64) error { panic("progress") }})
		},
	} {
		func() {
			defer func() { same(t, recover(), name) }()
			call()
		}()
	}
	_, err = store.Append(ctx, key, event("", ""), nil)
	must(t, err)
}

func TestLoading(t *testing.T) {
	store := memory(t)
	events := []string{`{"id":"a","timestamp":1,"actions":{"stateDelta":{"k":2}}}`, `{"id":"b","timestamp":2}`}
	loaded := func() *seslite.Loaded {
		n := 0
		return &seslite.Loaded{
			InitialState: []byte(`{"k":1}`), State: []byte(`{"k":2}`), Created: time.Unix(1, 0), Updated: time.Unix(9, 0),
			Title: "T", Labels: map[string]string{"a": "b"}, Version: pointer(int64(7)), LastSeq: 9,
			Parent: &seslite.Key{User: "user", Session: "p"}, ParentSeq: 1, BaseSeq: 0,
			Next: func() (*seslite.LoadedEvent, error) {
				if n == len(events) {
					return nil, nil
				}
				n++
				return &seslite.LoadedEvent{JSON: []byte(events[n-1]), Seq: int64(2 * n)}, nil
			},
		}
	}
	result, err := store.Load(ctx, key, loaded(), nil)
	must(t, err)
	same(t, []any{result.Outcome, result.Events, result.Version, result.Session}, "[0 2 7 s]")
	session, err := store.Get(ctx, key, nil)
	must(t, err)
	parent, _, _ := session.Parent()
	same(t, []any{session.LastSeq(), session.Title(), parent.Session, session.Updated().Unix()}, "[9 T p 9]")
	result, err = store.Load(ctx, key, loaded(), nil)
	must(t, err)
	same(t, result.Outcome, seslite.LoadedEqual)
	_, err = store.Load(ctx, key, titled(loaded(), "other"), nil)
	got(t, err, seslite.ErrExists)
	result, err = store.Load(ctx, key, titled(loaded(), "other"), &seslite.LoadOptions{Rename: true})
	must(t, err)
	same(t, []any{result.Outcome, result.Session}, "[4 s~2]")
	_, err = store.Load(ctx, key, titled(loaded(), "other"), &seslite.LoadOptions{Update: true})
	got(t, err, seslite.ErrExists)
	result, err = store.Load(ctx, key, titled(loaded(), "other"), &seslite.LoadOptions{Update: true, Follow: true})
	must(t, err)
	same(t, []any{result.Outcome, result.Events}, "[2 0]")
	copied := seslite.Key{App: "app", User: "user", Session: "copied"}
	forked := loaded()
	forked.Origin = 4711
	_, err = store.Load(ctx, copied, forked, nil)
	must(t, err)
	same(t, strings.Contains(string(exported(t, store, &seslite.ExportOptions{Scope: copied})), `"origin":4711`), true)
	broken := loaded()
	broken.Next = func() (*seslite.LoadedEvent, error) { return nil, errFull }
	_, err = store.Load(ctx, seslite.Key{App: "app", User: "user", Session: "n"}, broken, nil)
	same(t, errors.Is(err, errFull), true)
	_, err = store.Load(ctx, key, nil, nil)
	got(t, err, seslite.ErrMisuse)
	pruned := &seslite.Loaded{BaseSeq: 5, LastSeq: 5, Base: []seslite.LoadedValue{{Name: "k", JSON: []byte("3"), Seq: 4}}}
	_, err = store.Load(ctx, seslite.Key{App: "app", User: "user", Session: "pruned"}, pruned, nil)
	must(t, err)

	text, err := session.JSON()
	must(t, err)
	result, err = store.LoadJSON(ctx, seslite.Key{App: "elsewhere"}, text, &seslite.LoadOptions{Shared: true})
	must(t, err)
	same(t, []any{result.Session, result.Events}, "[s 2]")
	_, err = store.LoadJSON(ctx, seslite.Key{}, []byte(`{"id":1}`), nil)
	got(t, err, seslite.ErrInvalid)
}

func titled(l *seslite.Loaded, title string) *seslite.Loaded {
	l.Title = title
	return l
}

func TestBackupCopyAndCheck(t *testing.T) {
	store, _ := openFile(t)
	turns(t, store, key, 2)
	path := filepath.Join(t.TempDir(), "backup.db")
	pages := int64(0)
	must(t, store.Backup(ctx, path, &seslite.BackupOptions{Progress: func(done, _ int64) error { pages = done; return nil }}))
	same(t, pages > 0, true)
	got(t, store.Backup(ctx, path, nil), seslite.ErrExists)
	must(t, store.Backup(ctx, path, &seslite.BackupOptions{Replace: true, Compact: true}))
	err := store.Backup(ctx, path+"2", &seslite.BackupOptions{Progress: func(_, _ int64) error { return errFull }})
	same(t, errors.Is(err, errFull), true)
	copied, err := store.Copy(seslite.MaxReaders(1))
	must(t, err)
	count, _, err := copied.EventCount(ctx, key)
	same(t, []any{count, err}, "[4 <nil>]")
	problems, err := copied.Check(ctx, &seslite.CheckOptions{Level: seslite.CheckLog, Progress: func(_, _ int64) error { return nil }})
	same(t, []any{len(problems), err}, "[0 <nil>]")
	must(t, copied.Close())
	problems, err = store.Check(ctx, nil)
	same(t, []any{len(problems), err}, "[0 <nil>]")
}
