package seslite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.org/seslite"
)

func TestASessionTellsWhatItIs(t *testing.T) {
	store := memory(t)
	session := create(t, store, key, `{"app:a":[1,2],"user:u":"ä","k":1}`)
	same(t, session.Key(), key)
	same(t, []int64{session.Version(), session.LastSeq(), session.Stored(), session.BaseSeq()}, "[0 0 0 0]")
	if session.Created().IsZero() || session.Created() != session.Updated() || !session.Expires().IsZero() {
		t.Fatal(session.Created(), session.Updated(), session.Expires())
	}
	if _, _, forked := session.Parent(); forked {
		t.Fatal("it is no fork")
	}
	far := time.Now().Add(time.Hour).Truncate(time.Microsecond)
	made, err := store.Create(ctx, seslite.Key{App: "app", User: "user"}, nil, &seslite.CreateOptions{
		Created: time.UnixMicro(5), Expires: far, Title: "T", Labels: map[string]string{"a": "1", "b": ""},
	})
	must(t, err)
	same(t, made.Title(), "T")
	same(t, made.Labels(), "map[a:1 b:]")
	same(t, made.Created().UnixMicro(), 5)
	same(t, made.Expires().Equal(far), true)
	same(t, len(made.ID()), 36)
	must(t, made.SetTitle(ctx, "U"))
	must(t, made.SetLabels(ctx, map[string]string{"c": "ü"}, "b"))
	must(t, made.SetLabels(ctx, nil))
	must(t, made.SetExpiry(ctx, time.Time{}))
	same(t, made.Title(), "U")
	same(t, made.Labels(), "map[a:1 c:ü]")
	must(t, store.SetTitle(ctx, made.Key(), ""))
	must(t, store.SetLabels(ctx, made.Key(), nil, "a"))
	must(t, store.SetExpiry(ctx, made.Key(), far))
	must(t, made.Refresh(ctx))
	same(t, made.Title(), "")
	value, found := made.Label("c")
	same(t, value, "ü")
	same(t, found, true)
	_, found = made.Label("a")
	same(t, found, false)
	same(t, made.Expires().Equal(far), true)
	must(t, made.SetArchived(ctx, true))
	since := made.Archived()
	must(t, store.SetArchived(ctx, made.Key(), true))
	must(t, made.Refresh(ctx))
	same(t, made.Archived().Equal(since), true)
	same(t, since.IsZero(), false)
	archived := true
	page, err := store.List(ctx, made.App(), "", &seslite.ListOptions{Filter: &seslite.Filter{Archived: &archived}})
	must(t, err)
	same(t, len(page.Sessions), 1)
	same(t, page.Sessions[0].Archived.Equal(since), true)
	all, err := store.CountSessions(ctx, made.App(), "", nil)
	must(t, err)
	archived = false
	others, err := store.CountSessions(ctx, made.App(), "", &seslite.Filter{Archived: &archived})
	same(t, []any{others, err}, []any{all - 1, nil})
	key := made.Key()
	child, err := store.Create(ctx, seslite.Key{App: key.App, User: key.User}, nil, &seslite.CreateOptions{ChildOf: &key})
	must(t, err)
	of, isChild := child.ChildOf()
	same(t, []any{child.Kind(), of, isChild, made.Kind()}, []any{seslite.Child, key, true, seslite.Conversation})
	relatives, err := store.Family(ctx, child.Key())
	must(t, err)
	same(t, []any{len(relatives), relatives[0].Relation, relatives[0].Key}, []any{1, seslite.Owner, key})
	children, err := store.CountSessions(ctx, key.App, "", &seslite.Filter{ChildOf: &key})
	same(t, []any{children, err}, []any{int64(1), nil})
	remembered := seslite.Key{App: key.App, User: key.User, Session: "memory"}
	_, err = store.Load(ctx, remembered, &seslite.Loaded{IsMemory: true}, nil)
	must(t, err)
	count, err := store.CountSessions(ctx, key.App, "", &seslite.Filter{Kinds: seslite.Child | seslite.Memory})
	same(t, []any{count, err}, []any{int64(2), nil})
	_, err = store.Expire(ctx, &seslite.ExpireOptions{MemoryIdle: 1000 * time.Hour})
	must(t, err)
	must(t, store.SetArchived(ctx, made.Key(), false))
	must(t, made.Refresh(ctx))
	same(t, made.Archived().IsZero(), true)
	must(t, made.Close())
	must(t, made.Close())
	same(t, made.ID(), "")
	_, err = made.Append(ctx, event("", ""), nil)
	got(t, err, seslite.ErrMisuse)
}

func TestJSONKeepsItsBytes(t *testing.T) {
	store := memory(t)
	session := create(t, store, key, "")
	text := []byte(` {"id":"e1","timestamp":1,"author":"user","x":[9007199254740993,1.10,-0.0,1e400,"a\u0000b","\ud800"]} `)
	done, err := session.Append(ctx, text, nil)
	must(t, err)
	same(t, []int64{int64(done.Status), done.Seq, done.Version, done.Time.UnixMicro()}, "[0 1 1 1000000]")
	same(t, done.MadeID, "")
	first, found := session.Event(0)
	same(t, found, true)
	same(t, first.JSON, string(text))
	stored, err := store.EventByID(ctx, key, "e1")
	must(t, err)
	same(t, stored.JSON, string(text))
	again, err := session.Append(ctx, text, nil)
	must(t, err)
	same(t, again.Status, seslite.Duplicate)
	partial, err := session.Append(ctx, []byte(`{"partial":true}`), nil)
	must(t, err)
	same(t, partial.Status, seslite.Partial)
	same(t, partial.Time.IsZero(), true)
	_, err = store.Append(ctx, key, event("", `{"big":123456789012345678901234567890,"f":1.10}`), nil)
	must(t, err)
	value, err := store.Value(ctx, key, "big")
	must(t, err)
	same(t, value, "123456789012345678901234567890")
	state, err := store.State(ctx, key)
	must(t, err)
	same(t, state, `{"big":123456789012345678901234567890,"f":1.10}`)
}

func TestStateIsReadInEachForm(t *testing.T) {
	store := memory(t)
	session := create(t, store, key, `{"k":1,"user:u":"ä","app:a":[1,2]}`)
	state, err := session.State()
	must(t, err)
	same(t, state, `{"app:a":[1,2],"user:u":"ä","k":1}`)
	_, err = session.Append(ctx, event("", `{"b":true,"f":2.5,"big":18446744073709551616,"temp:t":"now"}`), nil)
	must(t, err)
	text, found, err := session.StringValue("user:u")
	same(t, []any{text, found, err}, "[ä true <nil>]")
	n, found, err := session.IntValue("k")
	same(t, []any{n, found, err}, "[1 true <nil>]")
	f, found, err := session.FloatValue("f")
	same(t, []any{f, found, err}, "[2.5 true <nil>]")
	b, found, err := session.BoolValue("b")
	same(t, []any{b, found, err}, "[true true <nil>]")
	_, found, err = session.IntValue("none")
	same(t, []any{found, err}, "[false <nil>]")
	_, _, err = session.IntValue("f")
	got(t, err, seslite.ErrType)
	_, _, err = session.IntValue("big")
	got(t, err, seslite.ErrRange)
	value, err := session.Value("none")
	same(t, []any{value == nil, err}, "[true <nil>]")
	same(t, session.KeyCount(), 7)
	var names []string
	for name := range session.Values() {
		names = append(names, name)
	}
	same(t, names, "[app:a user:u b big f k temp:t]")
	initial, err := session.InitialState(ctx)
	must(t, err)
	same(t, initial, `{"k":1,"user:u":"ä","app:a":[1,2]}`)
	shared, err := store.SharedState(ctx, "app", "")
	must(t, err)
	same(t, shared, `{"a":[1,2]}`)
	must(t, store.ChangeSharedState(ctx, "app", "user", []byte(`{"u":2}`), []byte(`{"u":"ä"}`)))
	got(t, store.ChangeSharedState(ctx, "app", "user", []byte(`{"u":3}`), []byte(`{"u":9}`)), seslite.ErrStale)
	value, err = store.SharedValue(ctx, "app", "user", "u")
	must(t, err)
	same(t, value, "2")
	must(t, store.ChangeSharedState(ctx, "app", "user", []byte(`{"u":`+seslite.Removed+`}`), nil))
	value, err = store.SharedValue(ctx, "app", "user", "u")
	same(t, []any{value == nil, err}, "[true <nil>]")
}

func TestAStaleSessionTellsTheVersion(t *testing.T) {
	store := memory(t)
	session := create(t, store, key, `{"user:u":1}`)
	other, created, err := store.GetOrCreate(ctx, key, nil, nil)
	must(t, err)
	same(t, created, false)
	_, err = other.Append(ctx, event("", `{"k":2}`), nil)
	must(t, err)
	_, err = session.Append(ctx, event("", ""), nil)
	got(t, err, seslite.ErrStale)
	var failure *seslite.Error
	same(t, errors.As(err, &failure), true)
	same(t, failure.Version, 1)
	same(t, strings.Contains(err.Error(), "SES_STALE"), true)
	_, err = store.Append(ctx, key, event("", ""), &seslite.AppendOptions{Version: pointer(int64(0))})
	got(t, err, seslite.ErrStale)
	must(t, session.Refresh(ctx))
	n, _, err := session.IntValue("k")
	must(t, err)
	same(t, n, 2)
	many, err := session.AppendBatch(ctx, [][]byte{event("", ""), event("", `{"k":3}`)}, nil)
	must(t, err)
	same(t, many[1].Seq, 3)
	done, err := other.Append(ctx, event("", ""), &seslite.AppendOptions{Anyway: true, Title: "T", Labels: map[string]string{"l": "1"}})
	must(t, err)
	same(t, done.Seq, 4)
	same(t, other.Title(), "T")
	none, err := store.AppendBatch(ctx, key, nil, nil)
	same(t, []any{len(none), err}, "[0 <nil>]")
	_, err = store.AppendBatch(ctx, key, [][]byte{event("", ""), []byte(`{"id":5}`)}, nil)
	got(t, err, seslite.ErrInvalid)
	errors.As(err, &failure)
	same(t, failure.Index, 1)
	_, err = store.Append(ctx, key, event("", ""), &seslite.AppendOptions{Expected: []byte(`{"user:u":1}`), Delta: []byte(`{"user:u":2}`)})
	must(t, err)
	_, err = store.Append(ctx, key, event("", ""), &seslite.AppendOptions{Expected: []byte(`{"user:u":1}`), Delta: []byte(`{"user:u":3}`)})
	got(t, err, seslite.ErrStale)
	count, version, err := store.EventCount(ctx, key)
	same(t, []any{count, version, err}, "[5 5 <nil>]")
}

func TestEventsAreWalked(t *testing.T) {
	store, _ := openFile(t)
	session := create(t, store, key, "")
	for _, id := range []string{"e0", "e1", "e2", "e3", "e4"} {
		_, err := session.Append(ctx, []byte(`{"id":"`+id+`","timestamp":`+id[1:]+`,"author":"a","branch":"b.c"}`), nil)
		must(t, err)
	}
	ids := func(r *seslite.Range) (ids []string) {
		read, err := store.Get(ctx, key, r)
		must(t, err)
		defer func() { must(t, read.Close()) }()
		for event := range read.Events() {
			ids = append(ids, event.ID)
		}
		same(t, read.EventCount(), len(ids))
		return ids
	}
	same(t, ids(nil), "[e0 e1 e2 e3 e4]")
	same(t, ids(&seslite.Range{None: true}), "[]")
	same(t, ids(&seslite.Range{Newest: 2}), "[e3 e4]")
	same(t, ids(&seslite.Range{Since: time.Unix(3, 0)}), "[e3 e4]")
	same(t, ids(&seslite.Range{FirstSeq: 2, LastSeq: 3}), "[e1 e2]")
	same(t, ids(&seslite.Range{LastSeq: 2, Newest: 1, Live: true}), "[e1]")
	var walked []string
	for event, err := range store.Events(ctx, key, &seslite.WalkOptions{Backward: true, Range: &seslite.Range{FirstSeq: 2}}) {
		must(t, err)
		walked = append(walked, event.ID+event.Branch)
		if event.ID == "e2" {
			break
		}
	}
	same(t, walked, "[e4b.c e3b.c e2b.c]")
	found, ok := session.EventByID("e2")
	same(t, []any{found.Seq, ok}, "[3 true]")
	_, ok = session.EventByID("none")
	same(t, ok, false)
	for _, index := range []int{-1, 5} {
		_, ok = session.Event(index)
		same(t, ok, false)
	}
	none, err := store.EventByID(ctx, key, "none")
	same(t, []any{none == nil, err}, "[true <nil>]")
	for _, err := range store.Events(ctx, seslite.Key{App: "app", User: "user", Session: "none"}, nil) {
		got(t, err, seslite.ErrNotFound)
	}
	text, err := session.JSON()
	must(t, err)
	same(t, strings.HasPrefix(string(text), `{"id":"s","appName":"app"`), true)
	document, err := session.Markdown(nil)
	must(t, err)
	texts, err := session.Markdown(&seslite.MarkdownOptions{TextsOnly: true})
	must(t, err)
	same(t, strings.HasPrefix(document, "# s\n\nApp app, user user, session s, created "), true)
	same(t, strings.HasPrefix(document, texts[:20]) && len(texts) <= len(document), true)
	done, cancel := context.WithCancel(ctx)
	cancel()
	for _, err := range store.Events(done, key, nil) {
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
	}
}

func TestInvocationsHoldTempState(t *testing.T) {
	store := memory(t)
	session := create(t, store, key, "")
	same(t, session.InvocationID(), "")
	id, err := session.BeginInvocation("")
	must(t, err)
	same(t, strings.HasPrefix(id, "e-") && session.InvocationID() == id, true)
	_, err = session.Append(ctx, event(id, `{"temp:t":1}`), nil)
	must(t, err)
	n, found, err := session.IntValue("temp:t")
	same(t, []any{n, found, err}, "[1 true <nil>]")
	must(t, session.EndInvocation())
	_, found, _ = session.IntValue("temp:t")
	same(t, found, false)
	id, err = session.BeginInvocation("mine")
	same(t, []any{id, err}, "[mine <nil>]")
}

func TestASessionIsCreatedOnce(t *testing.T) {
	store := memory(t)
	session, created, err := store.GetOrCreate(ctx, key, []byte(`{"app:a":1}`), nil)
	must(t, err)
	same(t, []any{created, session.ID()}, "[true s]")
	_, err = store.Create(ctx, key, []byte(`{"app:a":2}`), nil)
	got(t, err, seslite.ErrExists)
	value, err := store.SharedValue(ctx, "app", "", "a")
	must(t, err)
	same(t, value, "1")
	_, err = store.Get(ctx, seslite.Key{App: "app", User: "other", Session: "s"}, nil)
	got(t, err, seslite.ErrNotFound)
}

func TestOptionsOfAStore(t *testing.T) {
	n := 0
	traced := map[string]int{}
	store := memory(t, seslite.Clock(func() time.Time { return time.UnixMicro(77) }),
		seslite.MakeID(func() string { n++; return "id" + string(rune('0'+n)) }),
		seslite.OnCall(func(call seslite.Trace) { traced[call.Call] += int(call.BytesIn) }),
		seslite.MaxEventBytes(300), seslite.MaxSessionEvents(2), seslite.Timeout(time.Minute), seslite.BusyTimeout(time.Second))
	session := create(t, store, seslite.Key{App: "a", User: "u"}, "")
	same(t, []any{session.ID(), session.Created().UnixMicro()}, "[id1 77]")
	done, err := session.Append(ctx, []byte(`{"author":"x"}`), nil)
	must(t, err)
	same(t, []any{done.MadeID, done.Time.UnixMicro()}, "[id2 77]")
	_, err = session.Append(ctx, []byte(`{"author":"`+strings.Repeat("x", 400)+`"}`), nil)
	got(t, err, seslite.ErrLimit)
	_, err = session.Append(ctx, []byte(`{}`), nil)
	must(t, err)
	_, err = session.Append(ctx, []byte(`{}`), nil)
	got(t, err, seslite.ErrLimit)
	same(t, traced["ses_append"] > 0, true)
	id, err := store.NewID()
	same(t, []any{id, err}, []any{"id" + string(rune('0'+n)), nil})
}

func TestAHookThatPanicsChangesNothing(t *testing.T) {
	store := memory(t, seslite.Clock(func() time.Time { panic("clock") }), seslite.OnCall(func(seslite.Trace) { panic("trace") }))
	session := create(t, store, key, "")
	same(t, time.Since(session.Created()) < time.Minute, true)
	failing := memory(t, seslite.MakeID(func() string { panic("id") }))
	_, err := failing.Create(ctx, seslite.Key{App: "a", User: "u"}, nil, nil)
	got(t, err, seslite.ErrInvalid)
	long := memory(t, seslite.MakeID(func() string { return strings.Repeat("x", 10000) }))
	_, err = long.Create(ctx, seslite.Key{App: "a", User: "u"}, nil, nil)
	got(t, err, seslite.ErrInvalid)
}

func TestOpeningFails(t *testing.T) {
	folder := t.TempDir()
	_, err := seslite.Open(filepath.Join(folder, "none", "store.db"))
	got(t, err, seslite.ErrCannotOpen)
	_, err = seslite.Open(filepath.Join(folder, "none.db"), seslite.MustExist())
	got(t, err, seslite.ErrNotFound)
	_, err = seslite.Open("a\x00b")
	got(t, err, seslite.ErrInvalid)
	_, err = seslite.Open("")
	got(t, err, seslite.ErrInvalid)
	_, err = seslite.Open(":memory:", nil)
	got(t, err, seslite.ErrMisuse)
	_, err = seslite.Open(":memory:", seslite.MaxReaders(65))
	got(t, err, seslite.ErrMisuse)
	path := filepath.Join(folder, "text.db")
	must(t, os.WriteFile(path, []byte(strings.Repeat("no store ", 1000)), 0o600))
	_, err = seslite.Open(path)
	got(t, err, seslite.ErrNotAStore)
}

func TestAFileWithTwoNames(t *testing.T) {
	path := filepath.Join(t.TempDir(), "store.db")
	store, err := seslite.Open(path)
	must(t, err)
	must(t, store.Close())
	must(t, os.Link(path, path+"2"))
	_, err = seslite.Open(path)
	got(t, err, seslite.ErrCannotOpen)
	store, err = seslite.Open(path, seslite.Linked())
	must(t, err)
	must(t, store.Close())
}

func TestAStoreIsOpenedForReadingOnly(t *testing.T) {
	store, path := openFile(t, seslite.SyncNormal(), seslite.RollbackJournal())
	create(t, store, key, "")
	reading, err := seslite.Open(path, seslite.ReadOnly(), seslite.MaxReaders(1))
	must(t, err)
	_, err = reading.Append(ctx, key, event("", ""), nil)
	got(t, err, seslite.ErrReadOnly)
	info, err := reading.Info()
	must(t, err)
	same(t, []any{info.Engine, info.Path == path, info.ReadOnly, info.JournalMode}, "[sqlite true true delete]")
	same(t, info.SQLiteVersion != "" && info.JournalReason != "" && info.SchemaVersion > 0, true)
	must(t, reading.Close())
	stats, err := store.Stats()
	must(t, err)
	same(t, stats.Commits > 0 && stats.WriteCalls > 0 && stats.SQLite.FileBytes > 0, true)
	for _, option := range []seslite.Option{seslite.WAL(), seslite.ExternalCheckpoint()} {
		other, _ := openFile(t, option)
		create(t, other, key, "")
	}
}

func TestTextsAreCutAndQuoted(t *testing.T) {
	store := memory(t)
	quoted, err := store.Quote("a\"\n\x00ü")
	must(t, err)
	same(t, string(quoted), `"a\"\n\u0000ü"`)
	_, err = store.Quote("\xff")
	got(t, err, seslite.ErrInvalid)
	for _, each := range []struct {
		text  string
		limit int
		want  string
		cut   bool
	}{{"häuser", 2, "h", true}, {"häuser", 3, "hä", true}, {"hi", 9, "hi", false}, {"", 3, "", false}, {"hi", -1, "", true}} {
		text, cut := seslite.CutText(each.text, each.limit)
		same(t, []any{text, cut}, []any{each.want, each.cut})
	}
}

func TestMemoryIsFoundListedAndForgotten(t *testing.T) {
	store := memory(t)
	talk, user := seslite.Key{App: "app", User: "user", Session: "talk"}, seslite.Key{App: "app", User: "user"}
	event := func(id, text string, second int) []byte {
		return []byte(fmt.Sprintf(`{"id":%q,"author":"user","timestamp":%d,"content":{"parts":[{"text":%q}]}}`, id, second, text))
	}
	ids := func(hits []seslite.Hit, err error) (ids []string) {
		must(t, err)
		for _, hit := range hits {
			ids = append(ids, hit.ID)
		}
		return ids
	}
	create(t, store, talk, `{}`)
	_, err := store.AppendBatch(ctx, talk, [][]byte{event("a", "red tea", 1), event("b", "tea pot", 2)}, nil)
	must(t, err)
	must(t, store.RememberSession(ctx, talk, 1))
	for want := range 2 {
		added, err := store.RememberEvents(ctx, user, [][]byte{event("n", "a pot of tea", 9)}, nil)
		must(t, err)
		same(t, added, 1-want)
	}
	must(t, store.Remember(ctx, user, "tea of a project", &seslite.RememberOptions{Project: "p"}))
	hits, err := store.Recall(ctx, "app", "user", "pot tea", nil)
	same(t, ids(hits, err), []string{"n", "a"})
	same(t, hits[0].Score, 1.0)
	same(t, string(hits[0].JSON), string(event("n", "a pot of tea", 9)))
	same(t, len(ids(store.Remembered(ctx, "app", "user", &seslite.RecallOptions{Project: "p"}))), 3)
	same(t, ids(store.Remembered(ctx, "app", "user", &seslite.RecallOptions{Limit: 1})), []string{"n"})
	must(t, store.ForgetEvents(ctx, seslite.Key{App: "app", User: "user", Session: "memory:notes"}, []int64{1}))
	same(t, ids(store.Recall(ctx, "app", "user", "tea", nil)), []string{"a"})
	var erased seslite.Erased
	_, err = store.Forget(ctx, user, "", &seslite.DeleteOptions{Erased: &erased})
	must(t, err)
	same(t, erased.Sessions, int64(2))
	same(t, len(ids(store.Recall(ctx, "app", "user", "tea", nil))), 0)
}
