package seslite_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"

	"example.org/seslite"
)

// everything makes each kind of object that C allocates, and closes what can be closed. Half of the calls fail.
func everything(t *testing.T, store *seslite.Store, key seslite.Key) {
	none := key
	none.Session = "none"
	create(t, store, key, `{"k":1}`)
	for _, key := range []seslite.Key{key, none} {
		session, err := store.Get(ctx, key, nil)
		if err == nil {
			_, _ = session.Append(ctx, event("i", `{"k":2}`), &seslite.AppendOptions{Title: "T"})
			_, _ = session.JSON()
			_, _ = session.Render("{k}", nil)
			view, err := session.View(nil)
			must(t, err)
			_ = view.SetInt("x", 1)
			_, _ = view.State()
			_, _ = view.Delta()
			_, _ = view.Render("{x}", nil)
			must(t, view.Close())
			_, _ = session.BeginInvocation("")
			must(t, session.Close())
		}
		limited, cancel := context.WithCancel(ctx)
		_, _ = store.SaveArtifact(limited, key, "a", strings.NewReader("text"), nil)
		if artifact, err := store.OpenArtifact(limited, key, "a", nil); err == nil {
			_, _ = io.ReadAll(artifact)
			must(t, artifact.Close())
		}
		for range store.Artifacts(limited, key) {
		}
		for range store.Events(limited, key, nil) {
			break
		}
		_, _ = store.Context(limited, key, nil)
		_, _ = store.Pending(limited, key)
		_, _ = store.State(limited, key)
		_, _ = store.StateAsOf(limited, key, seslite.Now(), false)
		_, _ = store.EventByID(limited, key, "e")
		_, _ = store.Search(limited, key, "hi", &seslite.SearchOptions{SnippetBytes: 9})
		_ = store.Export(limited, io.Discard, &seslite.ExportOptions{Scope: key})
		if follower, err := store.Follow(limited, key, nil); err == nil {
			_, _ = follower.Poll(limited)
			must(t, follower.Close())
		}
		if fork, err := store.Fork(limited, key, seslite.Now(), seslite.Key{}, nil); err == nil {
			must(t, fork.Close())
		}
		_, _, _ = store.Pop(limited, key, seslite.AfterSeq(0), nil)
		cancel()
	}
	builder, err := store.NewEvent("a", "")
	must(t, err)
	_ = builder.AddText("x")
	_, _ = builder.AppendByKey(ctx, key, nil)
	text, err := builder.JSON()
	must(t, err)
	must(t, builder.Close())
	_, _ = store.Content(text)
	_, _ = store.Content([]byte("{"))
	_, _ = store.OutputDelta(text, "a", "out")
	_, _ = store.Quote("x")
	attachments, err := store.NewAttachments(key)
	must(t, err)
	_ = attachments.Add(ctx, "b", strings.NewReader("x"), nil)
	must(t, attachments.Close())
	_, _ = store.List(ctx, key.App, key.User, &seslite.ListOptions{Limit: 1})
	for range store.Users(ctx, key.App, nil) {
	}
	copied, err := store.Copy()
	must(t, err)
	must(t, copied.Close())
	_, _ = store.DeleteUser(ctx, key.App, key.User, nil)
}

// Nothing is left behind. The address sanitizer, under which the tests run with SESLITE_GO_FULL=1, also finds what is lost
// in small; here the memory of the process may not grow.
func TestNothingIsLeaked(t *testing.T) {
	store := memory(t)
	round := func(n int) {
		for range n {
			everything(t, store, key)
		}
		runtime.GC()
	}
	round(40)
	before := resident(t)
	round(200)
	if grown := resident(t) - before; grown > 24<<20 {
		t.Fatalf("the process has grown by %d kB", grown>>10)
	}
}

// resident returns the memory of the process.
func resident(t *testing.T) int64 {
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		t.Skip("for want of /proc")
	}
	var size, pages int64
	_, err = fmt.Sscan(string(text), &size, &pages)
	must(t, err)
	return pages * int64(os.Getpagesize())
}
