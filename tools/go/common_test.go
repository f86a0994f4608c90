package seslite_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"example.org/seslite"
)

var (
	ctx = context.Background()
	key = seslite.Key{App: "app", User: "user", Session: "s"}
)

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == "append-in-a-process" {
		appendInAProcess(os.Args[2:])
		return
	}
	before := runtime.NumGoroutine()
	code := m.Run()
	if flag.Lookup("test.fuzz").Value.String() != "" {
		os.Exit(code) // a fuzzer keeps goroutines of its own
	}
	for i := 0; i < 100 && runtime.NumGoroutine() > before; i++ {
		time.Sleep(20 * time.Millisecond)
	}
	if left := runtime.NumGoroutine(); code == 0 && left > before {
		stacks := make([]byte, 1<<16)
		fmt.Fprintf(os.Stderr, "%d goroutines are left:\n%s\n", left-before, stacks[:runtime.Stack(stacks, true)])
		code = 1
	}
	os.Exit(code)
}

// must fails the test if there is an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// got fails the test unless the code of the error is as expected.
func got(t testing.TB, err error, code seslite.Code) {
	t.Helper()
	if !errors.Is(err, code) || seslite.CodeOf(err) != code {
		t.Fatalf("%v instead of %s", err, code.String())
	}
}

// same fails the test unless two values print the same.
func same(t testing.TB, have, want any) {
	t.Helper()
	if raw, ok := have.(json.RawMessage); ok {
		have = string(raw)
	}
	if h, w := fmt.Sprintf("%v", have), fmt.Sprintf("%v", want); h != w {
		t.Fatalf("%s instead of %s", h, w)
	}
}

func openFile(t testing.TB, options ...seslite.Option) (*seslite.Store, string) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "store.db")
	store, err := seslite.Open(path, options...)
	must(t, err)
	t.Cleanup(func() { must(t, store.Close()) })
	return store, path
}

func memory(t testing.TB, options ...seslite.Option) *seslite.Store {
	t.Helper()
	store, err := seslite.Open(":memory:", options...)
	must(t, err)
	t.Cleanup(func() { must(t, store.Close()) })
	return store
}

func create(t testing.TB, store *seslite.Store, key seslite.Key, state string) *seslite.Session {
	t.Helper()
	var initial []byte
	if state != "" {
		initial = []byte(state)
	}
	session, err := store.Create(ctx, key, initial, nil)
	must(t, err)
	t.Cleanup(func() { must(t, session.Close()) })
	return session
}

// event is an event of an invocation with a state change, both of which may be "".
func event(invocation, delta string) []byte {
	var b strings.Builder
	b.WriteString(`{"author":"user"`)
	if invocation != "" {
		fmt.Fprintf(&b, `,"invocationId":%q,"content":{"role":"user","parts":[{"text":"hi"}]}`, invocation)
	}
	if delta != "" {
		fmt.Fprintf(&b, `,"actions":{"stateDelta":%s}`, delta)
	}
	return []byte(b.String() + "}")
}

// A group waits for its goroutines.
type group struct{ sync.WaitGroup }

func (g *group) Go(f func()) {
	g.Add(1)
	go func() {
		defer g.Done()
		f()
	}()
}

func pointer[T any](value T) *T { return &value }

// appendInAProcess is what another process does: it appends so many events to the session, and counts them in user:n.
func appendInAProcess(args []string) {
	store, err := seslite.Open(args[0])
	if err == nil {
		err = count(store, key, len(args[1]))
	}
	if err == nil {
		err = store.Close()
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// count adds 1 to user:n so many times, each with an event. Others may do the same.
func count(store *seslite.Store, key seslite.Key, times int) error {
	session, err := store.Get(ctx, key, &seslite.Range{None: true})
	if err != nil {
		return err
	}
	defer session.Close()
	view, err := session.View(nil)
	if err != nil {
		return err
	}
	defer view.Close()
	for times > 0 {
		n, _, err := view.IntValue("user:n")
		if err == nil {
			err = view.SetInt("user:n", n+1)
		}
		if err == nil {
			_, err = view.Append(ctx, event("", ""), nil)
		}
		if errors.Is(err, seslite.ErrStale) {
			view.Discard()
			if err = session.Refresh(ctx); err == nil {
				continue
			}
		}
		if err != nil {
			return err
		}
		times--
	}
	return nil
}
