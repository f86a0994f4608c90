package seslite_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"example.org/seslite"
)

func TestLeases(t *testing.T) {
	store, path := openFile(t)
	create(t, store, key, "")
	lease, err := store.TakeLease(ctx, key, "one", &seslite.LeaseOptions{Duration: time.Minute})
	must(t, err)
	same(t, lease.Token > 0 && time.Until(lease.Until) > 50*time.Second, true)
	other, err := seslite.Open(path)
	must(t, err)
	_, err = other.TakeLease(ctx, key, "two", &seslite.LeaseOptions{Wait: -1})
	got(t, err, seslite.ErrBusy)
	soon, cancel := context.WithTimeout(ctx, 30*time.Millisecond)
	_, err = other.TakeLease(soon, key, "two", nil)
	cancel()
	same(t, errors.Is(err, context.DeadlineExceeded), true)
	must(t, lease.Renew(ctx, 2*time.Minute))
	same(t, time.Until(lease.Until) > 100*time.Second, true)
	_, err = store.Append(ctx, key, event("", ""), &seslite.AppendOptions{Lease: lease.Token})
	must(t, err)
	must(t, lease.Release(ctx))
	_, err = other.TakeLease(ctx, key, "two", nil)
	must(t, err)
	_, err = store.Append(ctx, key, event("", ""), &seslite.AppendOptions{Lease: lease.Token})
	got(t, err, seslite.ErrLeased)
	got(t, lease.Renew(ctx, 0), seslite.ErrLeased)
	must(t, other.Close())
}

func TestFollowingAll(t *testing.T) {
	store, _ := openFile(t)
	app, err := store.FollowAll(ctx, "app")
	must(t, err)
	defer app.Close()
	all, err := store.FollowAll(ctx, "")
	must(t, err)
	defer all.Close()
	for _, key := range []seslite.Key{{"app", "u1", "s"}, {"other", "u2", "s"}} {
		create(t, store, key, "")
		_, err = store.Append(ctx, key, event("", ""), nil)
		must(t, err)
	}
	change, err := app.Next(ctx)
	must(t, err)
	same(t, change.Key, seslite.Key{"app", "u1", "s"})
	same(t, change.Place, "")
	change, err = app.Poll(ctx)
	must(t, err)
	same(t, change == nil, true)
	for _, user := range []string{"u1", "u2"} {
		change, err = all.Next(ctx)
		must(t, err)
		same(t, change.Key.User, user)
	}
}

func TestDrafts(t *testing.T) {
	store, _ := openFile(t)
	create(t, store, key, "")
	draft, err := store.Draft(ctx, key)
	must(t, err)
	same(t, draft == nil, true)
	lease, err := store.TakeLease(ctx, key, "one", nil)
	must(t, err)
	must(t, store.SetDraft(ctx, key, "Hel", lease.Token))
	must(t, store.SetDraft(ctx, key, "Hello wör", lease.Token))
	draft, err = store.Draft(ctx, key)
	must(t, err)
	same(t, draft.Body, "Hello wör")
	same(t, draft.Updated.IsZero(), false)
	got(t, store.SetDraft(ctx, key, "x", lease.Token+1), seslite.ErrLeased)
	got(t, store.SetDraft(ctx, key, "a\x00b", 0), seslite.ErrInvalid)
	_, err = store.Append(ctx, key, event("", ""), &seslite.AppendOptions{TakesDraft: true})
	must(t, err)
	draft, err = store.Draft(ctx, key)
	must(t, err)
	same(t, draft == nil, true)
	cleared, err := store.ClearDraft(ctx, key, 0)
	must(t, err)
	same(t, cleared, false)
	must(t, store.SetDraft(ctx, key, "", 0))
	cleared, err = store.ClearDraft(ctx, key, 0)
	must(t, err)
	same(t, cleared, true)
}

func TestInboxes(t *testing.T) {
	store, _ := openFile(t)
	create(t, store, key, "")
	input, lease, err := store.TakeInput(ctx, seslite.Key{}, "one", 0, 0)
	must(t, err)
	same(t, input == nil && lease == nil, true)
	for _, first := range []bool{true, false} {
		added, err := store.AddInput(ctx, key, "r1", []byte(`{"a":1}`), nil)
		must(t, err)
		same(t, added, first)
	}
	_, err = store.AddInput(ctx, key, "r1", []byte(`[]`), nil)
	got(t, err, seslite.ErrExists)
	fresh := seslite.Key{App: "other", User: "user", Session: "new"}
	_, err = store.AddInput(ctx, fresh, "r2", []byte(`2`), &seslite.InputOptions{Create: true})
	must(t, err)
	waiting, err := store.Inputs(ctx, seslite.Key{}, 0, 0)
	must(t, err)
	same(t, len(waiting), 2)
	same(t, string(waiting[1].Body), "2")
	waiting, err = store.Inputs(ctx, seslite.Key{}, waiting[0].Place, 5)
	must(t, err)
	same(t, len(waiting), 1)
	input, lease, err = store.TakeInput(ctx, seslite.Key{App: key.App}, "one", 0, time.Second)
	must(t, err)
	same(t, input.Request, "r1")
	same(t, input.Key, key)
	_, err = store.Append(ctx, key, event("", ""), &seslite.AppendOptions{Lease: lease.Token, Answers: "r1"})
	must(t, err)
	must(t, lease.Release(ctx))
	waiting, err = store.Inputs(ctx, key, 0, 0)
	must(t, err)
	same(t, len(waiting), 0)
	for _, first := range []bool{true, false} {
		removed, err := store.RemoveInput(ctx, fresh, "r2")
		must(t, err)
		same(t, removed, first)
	}
}

func TestFollowersSeeEachEventOnce(t *testing.T) {
	store, path := openFile(t)
	session := create(t, store, key, "")
	other, err := seslite.Open(path)
	must(t, err)
	defer other.Close()
	follower, err := store.Follow(ctx, key, nil)
	must(t, err)
	none, err := follower.Poll(ctx)
	same(t, []any{none == nil, err}, "[true <nil>]")
	for i := range 10 {
		_, err := []*seslite.Store{store, other}[i%2].Append(ctx, key, event("", ""), nil)
		must(t, err)
	}
	seq := int64(0)
	for change, err := range follower.Changes(ctx) {
		must(t, err)
		if seq++; change.Event.Seq != seq || change.Session != "s" || change.Place != follower.Place() {
			t.Fatal(change)
		}
		if seq == 5 {
			break
		}
	}
	later, err := store.Follow(ctx, key, &seslite.FollowOptions{Place: follower.Place()})
	must(t, err)
	change, err := later.Next(ctx)
	must(t, err)
	same(t, change.Event.Seq, 6)
	must(t, session.Refresh(ctx))
	_, err = session.Cut(ctx, seslite.AfterSeq(2), nil)
	must(t, err)
	for !change.Reset { // what it had read before comes first
		change, err = later.Next(ctx)
		must(t, err)
	}
	soon, cancel := context.WithTimeout(ctx, 30*time.Millisecond)
	defer cancel()
	_, err = later.Next(soon)
	same(t, errors.Is(err, context.DeadlineExceeded), true)
	for change, err := range later.Changes(soon) {
		t.Fatal(change, err)
	}
	_, err = store.Delete(ctx, key, nil)
	must(t, err)
	_, err = later.Next(ctx)
	got(t, err, seslite.ErrNotFound)
	must(t, later.Close())
	must(t, follower.Close())
	must(t, follower.Close())
	_, err = follower.Next(ctx)
	got(t, err, seslite.ErrMisuse)
	same(t, follower.Place(), "")
	_, err = store.Follow(ctx, key, nil)
	got(t, err, seslite.ErrNotFound)
}

func TestAFollowerIsEndedByItsClosing(t *testing.T) {
	store, _ := openFile(t)
	create(t, store, key, "")
	for _, end := range []func(f *seslite.Follower){
		func(f *seslite.Follower) { _ = f.Close() },
		func(*seslite.Follower) { _ = store.Close() },
	} {
		follower, err := store.Follow(ctx, seslite.Key{App: "app", User: "user"}, &seslite.FollowOptions{New: true})
		must(t, err)
		ended := make(chan error)
		go func() {
			_, err := follower.Next(ctx)
			ended <- err
		}()
		time.Sleep(20 * time.Millisecond)
		end(follower)
		if err := <-ended; err == nil {
			t.Fatal("it goes on")
		}
		must(t, follower.Close())
	}
}

// A context that ends while a call waits for another writer ends the call, and what it would have written is not there.
func TestAContextEndsCallsAndNothingIsHalfDone(t *testing.T) {
	store, _ := openFile(t)
	create(t, store, key, `{"n":0}`)
	var wait group
	var mu sync.Mutex
	stored, ended := 0, 0
	for range 8 {
		wait.Go(func() {
			for i := range 40 {
				limited, cancel := context.WithCancel(ctx)
				if i%4 == 0 {
					cancel()
				} else {
					go func() {
						runtime.Gosched()
						cancel()
					}()
				}
				_, err := store.AppendBatch(limited, key, [][]byte{event("", ""), event("", ""), event("", "")}, nil)
				cancel()
				mu.Lock()
				switch {
				case err == nil:
					stored += 3
				case errors.Is(err, context.Canceled):
					ended++
				default:
					t.Error(err)
				}
				mu.Unlock()
			}
		})
	}
	wait.Wait()
	count, version, err := store.EventCount(ctx, key)
	must(t, err)
	same(t, []any{count, version}, []any{stored, stored})
	if ended < 8*10 {
		t.Fatalf("only %d calls were ended", ended)
	}
	expired, cancel := context.WithDeadline(ctx, time.Now().Add(-time.Second))
	defer cancel()
	_, err = store.Append(expired, key, event("", ""), nil)
	got(t, err, seslite.ErrInterrupted)
	same(t, errors.Is(err, context.DeadlineExceeded), true)
}

func TestADeadlineEndsLongWork(t *testing.T) {
	store, _ := openFile(t)
	session := create(t, store, key, "")
	big := []byte(`{"author":"user","content":{"parts":[{"text":"` + strings.Repeat("word and word ", 5000) + `"}]}}`)
	for range 60 {
		_, err := session.Append(ctx, big, nil)
		must(t, err)
	}
	limited, cancel := context.WithTimeout(ctx, time.Millisecond)
	defer cancel()
	_, err := store.Search(limited, seslite.Key{App: "app"}, "absent", nil)
	if err == nil {
		t.Skip("the machine is too fast")
	}
	same(t, errors.Is(err, context.DeadlineExceeded), true)
	_, err = store.Append(ctx, key, event("", ""), nil) // the handle that ended it is as new
	must(t, err)
}

func TestManyGoroutinesShareAStore(t *testing.T) {
	store, _ := openFile(t, seslite.SyncNormal())
	create(t, store, key, `{"user:n":0}`)
	shared, err := store.Get(ctx, key, nil)
	must(t, err)
	var wait group
	for g := range 16 {
		wait.Go(func() {
			mine := seslite.Key{App: "app", User: "user", Session: fmt.Sprint("g", g)}
			_, _, err := store.GetOrCreate(ctx, mine, nil, nil)
			if err == nil {
				err = count(store, mine, 20)
			}
			for range 20 {
				if err == nil {
					_, err = shared.Append(ctx, event("", ""), &seslite.AppendOptions{Anyway: true})
				}
				_ = shared.Events()
				_, _ = shared.State()
			}
			if err != nil {
				t.Error(err)
			}
		})
	}
	wait.Wait()
	value, err := store.SharedValue(ctx, "app", "user", "n")
	must(t, err)
	same(t, value, 16*20)
	same(t, shared.Stored(), 16*20)
	problems, err := store.Check(ctx, &seslite.CheckOptions{Level: seslite.CheckLog})
	same(t, []any{problems, err}, "[[] <nil>]")
}

func TestClosingWaitsForCalls(t *testing.T) {
	for range 20 {
		store, err := seslite.Open(":memory:")
		must(t, err)
		session, err := store.Create(ctx, key, nil, nil)
		must(t, err)
		var wait group
		for range 8 {
			wait.Go(func() {
				for {
					if _, err := store.Append(ctx, key, event("", ""), nil); err != nil {
						if seslite.CodeOf(err) != seslite.ErrMisuse {
							t.Error(err)
						}
						return
					}
				}
			})
		}
		time.Sleep(time.Millisecond)
		must(t, store.Close())
		wait.Wait()
		must(t, store.Close())
		same(t, session.ID(), "s")
		got(t, session.Refresh(ctx), seslite.ErrMisuse)
	}
}

func TestSeveralProcessesShareAFile(t *testing.T) {
	store, path := openFile(t, seslite.SyncNormal())
	create(t, store, key, `{"user:n":0}`)
	var wait group
	for range 3 {
		wait.Go(func() {
			if out, err := exec.Command(os.Args[0], "append-in-a-process", path, strings.Repeat("x", 25)).CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	must(t, count(store, key, 25))
	wait.Wait()
	value, err := store.Value(ctx, key, "user:n")
	must(t, err)
	same(t, value, "100")
}

// What is forgotten is freed, and by then nothing of C's is used.
func TestForgottenObjectsAreFreed(t *testing.T) {
	for range 20 {
		store, err := seslite.Open(":memory:", seslite.Clock(time.Now))
		must(t, err)
		session, err := store.Create(ctx, key, nil, nil)
		must(t, err)
		_, err = session.View(nil)
		must(t, err)
		_, err = store.NewEvent("a", "")
		must(t, err)
		_, err = store.Follow(ctx, key, nil)
		must(t, err)
		_, err = store.NewAttachments(key)
		must(t, err)
		_, err = session.SaveArtifact(ctx, "a", strings.NewReader("x"), nil)
		must(t, err)
		_, err = session.OpenArtifact(ctx, "a", nil)
		must(t, err)
		runtime.GC()
	}
	for range 5 {
		runtime.GC()
		time.Sleep(5 * time.Millisecond)
	}
}

func TestInterrupt(t *testing.T) {
	store, _ := openFile(t)
	create(t, store, key, "")
	lease, err := store.TakeLease(ctx, key, "one", nil)
	must(t, err)
	ended := make(chan error)
	go func() {
		_, err := store.TakeLease(ctx, key, "two", nil)
		ended <- err
	}()
	for {
		must(t, store.Interrupt())
		select {
		case err := <-ended:
			got(t, err, seslite.ErrInterrupted)
			must(t, lease.Release(ctx))
			return
		case <-time.After(5 * time.Millisecond):
		}
	}
}
