package seslite_test

import (
	"bytes"
	"context"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"example.org/seslite"
)

func TestBadIDsAreInvalidEverywhere(t *testing.T) {
	store := memory(t)
	session := create(t, store, key, "")
	for _, bad := range []string{"a\x00b", "\x00", "\xff", strings.Repeat("x", 513), "\xed\xa0\x80"} {
		for name, call := range map[string]func() error{
			"Create": func() error { _, err := store.Create(ctx, seslite.Key{App: bad, User: "u"}, nil, nil); return err },
			"Get": func() error {
				_, err := store.Get(ctx, seslite.Key{App: "a", User: bad, Session: "s"}, nil)
				return err
			},
			"Append": func() error {
				_, err := store.Append(ctx, seslite.Key{App: "a", User: "u", Session: bad}, event("", ""), nil)
				return err
			},
			"List": func() error { _, err := store.List(ctx, bad, "", nil); return err },
			"Delete": func() error {
				_, err := store.Delete(ctx, seslite.Key{App: bad, User: "u", Session: "s"}, nil)
				return err
			},
			"SharedState":  func() error { _, err := store.SharedState(ctx, bad, ""); return err },
			"TakeLease":    func() error { _, err := store.TakeLease(ctx, key, bad, nil); return err },
			"Label":        func() error { return session.SetLabels(ctx, map[string]string{bad: ""}) },
			"SaveArtifact": func() error { _, err := session.SaveArtifact(ctx, bad, strings.NewReader("x"), nil); return err },
			"NewEvent":     func() error { _, err := store.NewEvent(bad, ""); return err },
			"Search":       func() error { _, err := store.Search(ctx, seslite.Key{App: bad}, "x", nil); return err },
			"BeginInvoc.":  func() error { _, err := session.BeginInvocation(bad); return err },
			"NewAttachment": func() error {
				_, err := store.NewAttachments(seslite.Key{App: bad, User: "u", Session: "s"})
				return err
			},
		} {
			if err := call(); seslite.CodeOf(err) != seslite.ErrInvalid {
				t.Errorf("%s with %.10q: %v", name, bad, err)
			}
		}
	}
	got(t, session.SetTitle(ctx, "a\x00b"), seslite.ErrInvalid)
	_, err := session.Append(ctx, event("", ""), &seslite.AppendOptions{Title: "a\x00b"})
	got(t, err, seslite.ErrInvalid)
	same(t, session.Stored(), 0)
	_, found := session.EventByID("a\x00b")
	same(t, found, false)
	for _, text := range []string{"", "{", "[]", "nul", "{}x", `{"a":1,"a":2`, "{\"\xff\":1}"} {
		if _, err := session.Append(ctx, []byte(text), nil); err == nil {
			t.Errorf("%q was appended", text)
		}
	}
	_, err = session.Append(ctx, nil, nil)
	got(t, err, seslite.ErrMisuse)
}

func TestNilIsMisuse(t *testing.T) {
	var store *seslite.Store
	var session *seslite.Session
	var follower *seslite.Follower
	must(t, store.Close())
	must(t, session.Close())
	must(t, follower.Close())
	_, err := store.Get(ctx, key, nil)
	got(t, err, seslite.ErrMisuse)
	_, err = session.Append(ctx, event("", ""), nil)
	got(t, err, seslite.ErrMisuse)
	_, err = session.State()
	got(t, err, seslite.ErrMisuse)
	_, err = follower.Next(ctx)
	got(t, err, seslite.ErrMisuse)
	_, err = store.Copy()
	got(t, err, seslite.ErrMisuse)
	_, err = store.Follow(ctx, key, nil)
	got(t, err, seslite.ErrMisuse)
	_, err = store.OpenArtifact(ctx, key, "a", nil)
	got(t, err, seslite.ErrMisuse)
	var none context.Context
	_, err = memory(t).Get(none, key, nil)
	got(t, err, seslite.ErrMisuse)
	same(t, []any{session.ID(), session.EventCount(), session.KeyCount(), session.Labels() == nil}, "[ 0 0 true]")
}

func TestBytesThatAreNotTheirOwnersStayAsTheyAre(t *testing.T) {
	store := memory(t)
	text := []byte(`{"id":"e","timestamp":1,"author":"a","actions":{"stateDelta":{"temp:x":1,"y":2}}}`)
	before := bytes.Clone(text)
	session := create(t, store, key, "")
	_, err := session.Append(ctx, text, nil)
	must(t, err)
	same(t, bytes.Equal(text, before), true)
	clear(text)
	event, _ := session.Event(0)
	same(t, json.Valid(event.JSON) && strings.Contains(string(event.JSON), `"y":2`), true)
}

// A key and a value are stored as they are, or refused. They never become another key or another value.
func FuzzKeysAndState(f *testing.F) {
	f.Add("s", "k", "v")
	f.Add("ü", "user:k", "\x00\xff")
	f.Add("a\x00b", "app:", "\u2028")
	f.Add(strings.Repeat("x", 513), "temp:x", "")
	store, err := seslite.Open(":memory:")
	must(f, err)
	f.Cleanup(func() { must(f, store.Close()) })
	f.Fuzz(func(t *testing.T, id, name, value string) {
		key := seslite.Key{App: "app", User: "user", Session: id}
		quotedName, failed := store.Quote(name)
		quoted, alsoFailed := store.Quote(value)
		same(t, failed == nil, utf8.ValidString(name))
		same(t, alsoFailed == nil, utf8.ValidString(value))
		if failed != nil || alsoFailed != nil {
			return
		}
		session, err := store.Create(ctx, key, []byte("{"+string(quotedName)+":"+string(quoted)+"}"), nil)
		if err != nil {
			got(t, err, seslite.ErrInvalid)
			return
		}
		defer session.Close()
		defer func() {
			_, err := store.DeleteUser(ctx, "app", "user", nil)
			must(t, err)
		}()
		if id != "" {
			same(t, session.ID(), id)
		}
		text, found, err := session.StringValue(name)
		must(t, err)
		if strings.HasPrefix(name, "temp:") || string(quoted) == seslite.Removed {
			same(t, found, false)
			return
		}
		same(t, found, true)
		same(t, text, value)
	})
}
