package seslite_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"

	"example.org/seslite"
)

func Example() {
	if err := firstSteps(context.Background(), filepath.Join(os.TempDir(), "seslite-example.db")); err != nil {
		log.Fatal(err)
	}
	// Output:
	// {"app:theme":"dark","user:language":"en","counter":42,"topic":"start","temp:step":1}
	// 1 agent
}

func firstSteps(ctx context.Context, path string) error {
	defer os.Remove(path)
	store, err := seslite.Open(path)
	if err != nil {
		return err
	}
	defer store.Close()

	key := seslite.Key{App: "my_app", User: "alice"} // the store makes the session's id
	session, err := store.Create(ctx, key, []byte(`{"app:theme":"dark","user:language":"en","topic":"start"}`), nil)
	if err != nil {
		return err
	}
	defer session.Close()

	// One transaction: the event and its state changes. temp: is visible on this session and never stored.
	_, err = session.Append(ctx, []byte(
		`{"invocationId":"inv-1","author":"agent","actions":{"stateDelta":{"counter":42,"temp:step":1}}}`), nil)
	if err != nil {
		return err
	}

	state, err := session.State() // all scopes merged
	if err != nil {
		return err
	}
	fmt.Println(string(state))
	for event := range session.Events() {
		fmt.Println(event.Seq, event.Author)
	}
	return nil
}

func ExampleSession_View() {
	ctx := context.Background()
	store, session := opened()
	defer store.Close()

	visit := func() error {
		view, err := session.View(nil)
		if err != nil {
			return err
		}
		defer view.Close()
		visits, _, err := view.IntValue("user:visits")
		if err != nil {
			return err
		}
		if err := view.SetInt("user:visits", visits+1); err != nil {
			return err
		}
		_, err = view.Append(ctx, []byte(`{"author":"agent"}`), nil)
		return err
	}
	for errors.Is(visit(), seslite.ErrStale) { // another session has counted in the meantime
		if err := session.Refresh(ctx); err != nil {
			log.Fatal(err)
		}
	}
	fmt.Println(session.IntValue("user:visits"))
	// Output: 1 true <nil>
}

func ExampleStore_Follow() {
	store, session := opened()
	defer store.Close()

	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	follower, err := store.Follow(ctx, session.Key(), nil)
	if err != nil {
		log.Fatal(err)
	}
	defer follower.Close()
	go store.Append(ctx, session.Key(), []byte(`{"author":"agent"}`), nil)
	for change, err := range follower.Changes(ctx) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(change.Session, change.Event.Seq, change.Event.Author)
		break
	}
	// Output: s1 1 agent
}

func ExampleStore_TakeLease() {
	ctx := context.Background()
	store, session := opened()
	defer store.Close()

	lease, err := store.TakeLease(ctx, session.Key(), "worker 7, request 12", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer lease.Release(ctx)
	done, err := session.Append(ctx, []byte(`{"author":"user"}`), &seslite.AppendOptions{Lease: lease.Token})
	fmt.Println(done.Seq, err)
	// Output: 1 <nil>
}

func ExampleStore_NewAttachments() {
	ctx := context.Background()
	store, session := opened()
	defer store.Close()

	attachments, err := store.NewAttachments(session.Key())
	if err != nil {
		log.Fatal(err)
	}
	defer attachments.Close()
	if err := attachments.Add(ctx, "notes.txt", strings.NewReader("ten lines"), nil); err != nil {
		log.Fatal(err)
	}
	_, err = session.Append(ctx, []byte(`{"author":"agent"}`), &seslite.AppendOptions{Attachments: attachments})
	if err != nil {
		log.Fatal(err)
	}

	notes, err := session.OpenArtifact(ctx, "notes.txt", nil)
	if err != nil {
		log.Fatal(err)
	}
	defer notes.Close()
	text, err := io.ReadAll(notes)
	fmt.Println(string(text), err)
	// Output: ten lines <nil>
}

func ExampleStore_SearchAll() {
	ctx := context.Background()
	store, session := opened()
	defer store.Close()

	_, err := session.Append(ctx, []byte(`{"content":{"parts":[{"text":"The train to Paris leaves at noon."}]}}`), nil)
	if err != nil {
		log.Fatal(err)
	}
	options := &seslite.SearchOptions{SnippetBytes: 80}
	for hit, err := range store.SearchAll(ctx, seslite.Key{App: "my_app", User: "alice"}, "paris TRAIN", options) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(hit.Session, hit.Seq, hit.Snippet)
	}
	// Output: s1 1 The train to Paris leaves at noon.
}

func ExampleStore_UsageAll() {
	ctx := context.Background()
	store, session := opened()
	defer store.Close()

	answer := `{"timestamp":1,"modelVersion":"m","usageMetadata":{"promptTokenCount":7,"candidatesTokenCount":3}}`
	_, err := session.Append(ctx, []byte(answer), nil)
	if err != nil {
		log.Fatal(err)
	}
	by := &seslite.UsageOptions{ByDay: true, ByModel: true}
	for row, err := range store.UsageAll(ctx, seslite.Key{App: "my_app"}, by) {
		if err != nil {
			log.Fatal(err)
		}
		fmt.Println(row.Day, row.Model, row.Calls, row.Prompt, row.Candidates)
	}
	// Output: 1970-01-01 m 1 7 3
}

func opened() (*seslite.Store, *seslite.Session) {
	store, err := seslite.Open(":memory:")
	if err != nil {
		log.Fatal(err)
	}
	session, err := store.Create(context.Background(), seslite.Key{App: "my_app", User: "alice", Session: "s1"}, nil, nil)
	if err != nil {
		log.Fatal(err)
	}
	return store, session
}
