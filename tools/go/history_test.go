package seslite_test

import (
	"testing"
	"time"

	"example.org/seslite"
)

// turns appends so many turns to a new session, each of which sets n.
func turns(t *testing.T, store *seslite.Store, key seslite.Key, count int) *seslite.Session {
	session := create(t, store, key, `{"n":0}`)
	for i := 1; i <= count; i++ {
		id := string(rune('0' + i))
		_, err := session.AppendBatch(ctx, [][]byte{
			[]byte(`{"id":"u` + id + `","author":"user","invocationId":"i` + id + `","content":{"parts":[{"text":"q"}]}}`),
			[]byte(`{"id":"a` + id + `","author":"agent","invocationId":"i` + id + `","actions":{"stateDelta":{"n":` + id + `}}}`),
		}, nil)
		must(t, err)
	}
	return session
}

func number(t *testing.T, session *seslite.Session) int64 {
	n, found, err := session.IntValue("n")
	same(t, []any{found, err}, "[true <nil>]")
	return n
}

func TestRewindAndRedo(t *testing.T) {
	store := memory(t)
	session := turns(t, store, key, 3)
	done, err := session.Rewind(ctx, seslite.BeforeInvocation("i2"), nil)
	must(t, err)
	same(t, []any{done.Status, done.Seq, number(t, session)}, "[0 7 1]")
	live, err := session.Live(ctx)
	must(t, err)
	same(t, live, "[true true false false false false false]")
	done, err = session.Redo(ctx, nil)
	must(t, err)
	same(t, []any{done.Status, number(t, session)}, "[0 3]")
	done, err = session.Redo(ctx, nil)
	must(t, err)
	same(t, done.Status, seslite.Unchanged)
	_, err = store.Rewind(ctx, key, seslite.BeforeLastTurn(), &seslite.RewindOptions{Version: pointer(int64(1))})
	got(t, err, seslite.ErrStale)
	_, err = store.Rewind(ctx, key, seslite.BeforeLastTurn(), &seslite.RewindOptions{ArtifactDelta: []byte(`{"a":1}`)})
	must(t, err)
	_, err = store.Redo(ctx, key, nil)
	must(t, err)
	_, err = session.Rewind(ctx, seslite.AfterEvent("none"), &seslite.RewindOptions{Anyway: true})
	got(t, err, seslite.ErrNotFound)
}

func TestTheStateAtAPoint(t *testing.T) {
	store := memory(t)
	session := turns(t, store, key, 2)
	for _, each := range []struct {
		point seslite.Point
		want  string
	}{{seslite.AfterSeq(0), `{"n":0}`}, {seslite.AfterEvent("a1"), `{"n":1}`}, {seslite.Now(), `{"n":2}`}, {seslite.BeforeLastTurn(), `{"n":1}`}} {
		state, err := session.StateAsOf(ctx, each.point, false)
		must(t, err)
		same(t, state, each.want)
		state, err = store.StateAsOf(ctx, key, each.point, true)
		must(t, err)
		same(t, state, each.want)
	}
	initial, err := store.InitialState(ctx, key)
	must(t, err)
	same(t, initial, `{"n":0}`)
}

func TestCutAndPop(t *testing.T) {
	store, _ := openFile(t)
	session := turns(t, store, key, 3)
	events, more, err := session.Pop(ctx, seslite.BeforeLastTurn(), nil)
	must(t, err)
	same(t, []any{len(events), events[0].ID, more, number(t, session)}, "[2 u3 false 2]")
	events, _, err = store.Pop(ctx, key, seslite.AfterSeq(3), nil)
	must(t, err)
	same(t, []any{len(events), events[0].ID}, "[1 a2]")
	_, err = session.Cut(ctx, seslite.AfterSeq(0), nil)
	got(t, err, seslite.ErrStale)
	must(t, session.Refresh(ctx))
	deleted, err := session.Cut(ctx, seslite.AfterSeq(2), &seslite.CutOptions{Secure: true})
	must(t, err)
	same(t, deleted, "{1 0 false}")
	deleted, err = store.Cut(ctx, key, seslite.AfterSeq(0), &seslite.CutOptions{Version: pointer(session.Version())})
	must(t, err)
	same(t, deleted.Count, 2)
}

func TestForks(t *testing.T) {
	store := memory(t)
	session := turns(t, store, key, 2)
	fork, err := session.Fork(ctx, seslite.AfterEvent("a1"), seslite.Key{}, nil)
	must(t, err)
	parent, seq, forked := fork.Parent()
	same(t, []any{parent, seq, forked, number(t, fork), fork.EventCount()}, "[{app user s} 2 true 1 2]")
	to := seslite.Key{App: "app", User: "other", Session: "copy"}
	_, err = store.Fork(ctx, key, seslite.Now(), to, nil)
	got(t, err, seslite.ErrInvalid)
	fork, err = store.Fork(ctx, key, seslite.Now(), to, &seslite.ForkOptions{OtherUser: true, Range: &seslite.Range{None: true}})
	must(t, err)
	same(t, []any{fork.Key(), fork.EventCount(), fork.Stored()}, "[{app other copy} 0 4]")
}

func TestForksExpire(t *testing.T) {
	store := memory(t)
	soon := time.Now().Add(time.Hour).Truncate(time.Microsecond)
	session, err := store.Create(ctx, key, nil, &seslite.CreateOptions{Expires: soon})
	must(t, err)
	for _, one := range []struct {
		options *seslite.ForkOptions
		expires time.Time
	}{
		{nil, soon},
		{&seslite.ForkOptions{Expires: soon.Add(time.Hour)}, soon.Add(time.Hour)},
		{&seslite.ForkOptions{Never: true}, time.Time{}},
	} {
		fork, err := session.Fork(ctx, seslite.Now(), seslite.Key{}, one.options)
		must(t, err)
		if !fork.Expires().Equal(one.expires) {
			t.Fatal(fork.Expires(), one.expires)
		}
	}
}

func TestTheOrderByTheStoresClock(t *testing.T) {
	store := memory(t)
	for id, event := range map[string]string{"ahead": `{"timestamp":9e9}`, "behind": `{"timestamp":1}`} {
		one := seslite.Key{App: "app", User: "user", Session: id}
		create(t, store, one, "{}")
		_, err := store.Append(ctx, one, []byte(event), nil)
		must(t, err)
	}
	due, err := store.Expire(ctx, &seslite.ExpireOptions{SessionsPerUser: 1, ByChange: true, DryRun: true})
	must(t, err)
	same(t, due.Count, 1)
	page, err := store.List(ctx, "app", "user", &seslite.ListOptions{Order: seslite.ChangedFirst})
	must(t, err)
	same(t, len(page.Sessions), 2)
	first, second := page.Sessions[0].Changed, page.Sessions[1].Changed
	same(t, []bool{first.Before(second), first.After(time.Now()), second.Before(time.Now().Add(-time.Hour))}, "[false false false]")
}

func TestPreviews(t *testing.T) {
	store := memory(t)
	create(t, store, key, "{}")
	for _, event := range []string{
		`{"author":"user","content":{"parts":[{"text":"h\u00e9llo"}]}}`,
		`{"author":"agent","content":{"parts":[{"text":"Hi."},{"functionCall":{"id":"1","name":"f"}}]}}`,
	} {
		_, err := store.Append(ctx, key, []byte(event), nil)
		must(t, err)
	}
	page, err := store.List(ctx, key.App, "", &seslite.ListOptions{Preview: true})
	must(t, err)
	same(t, *page.Sessions[0].Preview, "{Hi. agent 2 1 h\u00e9llo}")
	page, err = store.List(ctx, key.App, "", &seslite.ListOptions{Preview: true, PreviewBytes: 2})
	must(t, err)
	same(t, *page.Sessions[0].Preview, "{Hi agent 2 1 h}")
	page, err = store.List(ctx, key.App, "", nil)
	must(t, err)
	same(t, page.Sessions[0].Preview == nil, true)
}

func TestPruneAndExpire(t *testing.T) {
	store, _ := openFile(t)
	session := turns(t, store, key, 3)
	_, err := session.Prune(ctx, nil)
	got(t, err, seslite.ErrInvalid)
	deleted, err := session.Prune(ctx, &seslite.PruneOptions{Keep: pointer(int64(2))})
	must(t, err)
	same(t, deleted.Count > 0, true)
	must(t, session.Refresh(ctx))
	same(t, []any{session.BaseSeq() > 0, number(t, session)}, "[true 3]")
	_, err = store.Prune(ctx, key, &seslite.PruneOptions{LastSeq: 5, Before: time.Now(), Compacted: true, Secure: true})
	must(t, err)
	due, err := store.Expire(ctx, &seslite.ExpireOptions{App: "app", Now: time.Now().Add(time.Hour), Idle: time.Minute, DryRun: true})
	must(t, err)
	same(t, due.Count, 1)
	due, err = store.Expire(ctx, nil)
	must(t, err)
	same(t, due, "{0 0 false}")
	create(t, store, seslite.Key{App: "app", User: "user", Session: "s2"}, `{"user:x":1}`)
	due, err = store.Expire(ctx, &seslite.ExpireOptions{SessionsPerUser: 1})
	must(t, err)
	same(t, due.Count, 1)
	gone, err := store.DeleteUser(ctx, "app", "user", &seslite.DeleteOptions{Secure: true})
	must(t, err)
	same(t, gone, "{1 1 false}")
	_, err = store.Maintain(ctx, 0)
	must(t, err)
	bytes, free, err := store.Space(ctx)
	must(t, err)
	same(t, bytes > free, true)
}

func TestListsAndDeletions(t *testing.T) {
	store := memory(t)
	for _, id := range []string{"s1", "s2", "s3"} {
		_, err := store.Create(ctx, seslite.Key{App: "app", User: "user", Session: id}, []byte(`{"k":"`+id+`"}`),
			&seslite.CreateOptions{Labels: map[string]string{"n": id}, Title: "T" + id})
		must(t, err)
	}
	create(t, store, seslite.Key{App: "app", User: "zoe", Session: "x"}, "")
	page, err := store.List(ctx, "app", "user", &seslite.ListOptions{Limit: 2, Order: seslite.CreatedFirst})
	must(t, err)
	same(t, []any{len(page.Sessions), page.Token != ""}, "[2 true]")
	same(t, page.Sessions[1].State, `{"k":"s2"}`)
	same(t, page.Sessions[1].Title, "Ts2")
	var ids []string
	for session, err := range store.Sessions(ctx, "app", "", &seslite.ListOptions{Limit: 1, Order: seslite.CreatedFirst, NoState: true}) {
		must(t, err)
		ids = append(ids, session.Key.Session)
		same(t, session.State == nil, true)
	}
	same(t, ids, "[s1 s2 s3 x]")
	filter := &seslite.Filter{Label: "n", LabelValue: pointer("s2"), IDPrefix: "s", UpdatedBefore: time.Now().Add(time.Hour)}
	count, err := store.CountSessions(ctx, "app", "user", filter)
	same(t, []any{count, err}, "[1 <nil>]")
	for _, filter := range []seslite.Filter{{WithoutLabel: "n"}, {ChangedBefore: time.Unix(1, 0)}} {
		count, err = store.CountSessions(ctx, "app", "user", &filter)
		same(t, []any{count, err}, "[0 <nil>]")
	}
	count, err = store.CountSessions(ctx, "app", "", &seslite.Filter{WithoutLabel: "n", ChangedSince: time.Unix(1, 0)})
	same(t, []any{count, err}, "[1 <nil>]")
	_, err = store.List(ctx, "app", "user", &seslite.ListOptions{Token: "no token"})
	got(t, err, seslite.ErrInvalid)
	for _, err := range store.Sessions(ctx, "", "", nil) {
		got(t, err, seslite.ErrInvalid)
	}
	var names []string
	for name, err := range store.Users(ctx, "app", &seslite.NamesOptions{Limit: 1}) {
		must(t, err)
		names = append(names, name)
	}
	for name, err := range store.Apps(ctx, nil) {
		must(t, err)
		names = append(names, name)
	}
	same(t, names, "[user zoe app]")
	deleted, err := store.Delete(ctx, seslite.Key{App: "app", User: "user", Session: "s1"}, nil)
	must(t, err)
	same(t, deleted.Count, 1)
	deleted, err = store.Delete(ctx, seslite.Key{App: "app", User: "user", Session: "s1"}, nil)
	must(t, err)
	same(t, deleted.Count, 0)
	steps := 0
	for more := true; more; steps++ {
		step, err := store.DeleteApp(ctx, "app", &seslite.DeleteOptions{Limit: 1})
		must(t, err)
		more = step.More
	}
	same(t, steps > 2, true)
}
