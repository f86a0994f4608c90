package adksession_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"google.golang.org/adk/v2/artifact"
	"google.golang.org/adk/v2/memory"
	"google.golang.org/adk/v2/model"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"example.org/seslite"
	"example.org/seslite/adksession"
)

var ctx = context.Background()

func opened(t *testing.T) *seslite.Store {
	t.Helper()
	store, err := seslite.Open(filepath.Join(t.TempDir(), "store.db"), seslite.SyncNormal())
	must(t, err)
	t.Cleanup(func() { must(t, store.Close()) })
	return store
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func same(t *testing.T, have, want any) {
	t.Helper()
	if h, w := fmt.Sprint(have), fmt.Sprint(want); h != w {
		t.Fatalf("%s instead of %s", h, w)
	}
}

func create(t *testing.T, s session.Service, user, id string, state map[string]any) session.Session {
	t.Helper()
	made, err := s.Create(ctx, &session.CreateRequest{AppName: "app", UserID: user, SessionID: id, State: state})
	must(t, err)
	return made.Session
}

func get(t *testing.T, s session.Service, id string) session.Session {
	t.Helper()
	found, err := s.Get(ctx, &session.GetRequest{AppName: "app", UserID: "user", SessionID: id})
	must(t, err)
	return found.Session
}

func said(id, text string, delta map[string]any) *session.Event {
	return &session.Event{
		ID: id, Author: "user", InvocationID: "inv", Timestamp: time.Now(),
		LLMResponse: model.LLMResponse{Content: genai.NewContentFromText(text, "user")},
		Actions:     session.EventActions{StateDelta: delta},
	}
}

func TestSessionsAreCreatedReadListedAndDeleted(t *testing.T) {
	s := adksession.Sessions(opened(t))
	made := create(t, s, "user", "", map[string]any{"k": 5, "app:a": "x", "user:u": []any{1, "2"}, "temp:t": true})
	same(t, []any{made.AppName(), made.UserID(), len(made.ID())}, "[app user 36]")
	same(t, maps.Collect(made.State().All()), "map[app:a:x k:5 temp:t:true user:u:[1 2]]")
	same(t, made.Events().Len(), 0)
	found := get(t, s, made.ID())
	same(t, maps.Collect(found.State().All()), "map[app:a:x k:5 user:u:[1 2]]")
	same(t, found.LastUpdateTime(), made.LastUpdateTime())
	_, err := found.State().Get("none")
	same(t, errors.Is(err, session.ErrStateKeyNotExist), true)
	_, err = s.Create(ctx, &session.CreateRequest{AppName: "app", UserID: "user", SessionID: made.ID()})
	same(t, errors.Is(err, seslite.ErrExists), true)
	_, err = s.Get(ctx, &session.GetRequest{AppName: "app", UserID: "other", SessionID: made.ID()})
	same(t, errors.Is(err, seslite.ErrNotFound) && errors.Is(err, fs.ErrNotExist), true)

	create(t, s, "user", "two", nil)
	create(t, s, "other", "three", nil)
	for user, want := range map[string]int{"user": 2, "other": 1, "": 3, "none": 0} {
		listed, err := s.List(ctx, &session.ListRequest{AppName: "app", UserID: user})
		must(t, err)
		same(t, len(listed.Sessions), want)
	}
	must(t, s.Delete(ctx, &session.DeleteRequest{AppName: "app", UserID: "other", SessionID: made.ID()}))
	get(t, s, made.ID())
	for range 2 {
		must(t, s.Delete(ctx, &session.DeleteRequest{AppName: "app", UserID: "user", SessionID: made.ID()}))
	}
	_, err = s.Get(ctx, &session.GetRequest{AppName: "app", UserID: "user", SessionID: made.ID()})
	same(t, errors.Is(err, fs.ErrNotExist), true)
	for _, err := range []error{
		second(s.Create(ctx, nil)), second(s.Create(ctx, &session.CreateRequest{AppName: "app"})), second(s.Get(ctx, &session.GetRequest{})),
		second(s.List(ctx, &session.ListRequest{})), s.Delete(ctx, &session.DeleteRequest{}), s.AppendEvent(ctx, nil, nil), s.AppendEvent(ctx, made, nil),
		second(s.Create(ctx, &session.CreateRequest{AppName: "app", UserID: "u", State: map[string]any{"f": func() {}}})),
	} {
		if err == nil {
			t.Error("it was accepted")
		}
	}
}

func second[T any](_ T, err error) error { return err }

func TestEventsAreAppended(t *testing.T) {
	s := adksession.Sessions(opened(t))
	made := create(t, s, "user", "s", nil)
	event := said("e1", "<b>hi & bye</b>", map[string]any{"k": 1.5, "temp:t": "x", "user:u": nil})
	event.Actions.ArtifactDelta = map[string]int64{"a.txt": 1}
	event.Content.Parts = append(event.Content.Parts, genai.NewPartFromBytes([]byte{0, 255}, "image/png"))
	must(t, s.AppendEvent(ctx, made, event))
	same(t, event.Actions.StateDelta["temp:t"], "x")
	same(t, maps.Collect(made.State().All()), "map[k:1.5 temp:t:x user:u:<nil>]")
	same(t, made.Events().At(0).Actions.StateDelta, "map[k:1.5 user:u:<nil>]")
	found := get(t, s, "s")
	same(t, maps.Collect(found.State().All()), "map[k:1.5 user:u:<nil>]")
	read := found.Events().At(0)
	same(t, read.Timestamp.Equal(event.Timestamp), true)
	same(t, []any{read.ID, read.Content.Parts[0].Text, read.Content.Parts[1].InlineData.Data, read.Actions.ArtifactDelta},
		"[e1 <b>hi & bye</b> [0 255] map[a.txt:1]]")
	same(t, found.Events().At(1) == nil && found.Events().At(-1) == nil, true)

	must(t, s.AppendEvent(ctx, made, &session.Event{LLMResponse: model.LLMResponse{Partial: true}, Author: "a"}))
	same(t, made.Events().Len(), 1)
	unnamed := said("", "no id", nil)
	must(t, s.AppendEvent(ctx, made, unnamed))
	same(t, len(unnamed.ID), 36)
	must(t, s.AppendEvent(ctx, made, unnamed)) // a retry
	same(t, made.Events().Len(), 2)
	same(t, get(t, s, "s").Events().Len(), 2)
	for range get(t, s, "s").Events().All() {
		break
	}
	recent, err := s.Get(ctx, &session.GetRequest{AppName: "app", UserID: "user", SessionID: "s", NumRecentEvents: 1})
	must(t, err)
	same(t, recent.Session.Events().At(0).ID, unnamed.ID)
	after, err := s.Get(ctx, &session.GetRequest{AppName: "app", UserID: "user", SessionID: "s", After: time.Now().Add(time.Hour)})
	must(t, err)
	same(t, after.Session.Events().Len(), 0)
}

func TestAnOutdatedSessionIsStale(t *testing.T) {
	s := adksession.Sessions(opened(t))
	one, two := create(t, s, "user", "s", nil), get(t, s, "s")
	must(t, s.AppendEvent(ctx, one, said("e1", "hi", nil)))
	err := s.AppendEvent(ctx, two, said("e2", "hi", map[string]any{"k": 1}))
	same(t, errors.Is(err, seslite.ErrStale), true)
	_, err = two.State().Get("k")
	same(t, err != nil, true)
	must(t, s.AppendEvent(ctx, get(t, s, "s"), said("e2", "hi", nil)))
	must(t, s.AppendEvent(ctx, foreign{two}, said("e3", "hi", nil))) // which has no version
	must(t, s.Delete(ctx, &session.DeleteRequest{AppName: "app", UserID: "user", SessionID: "s"}))
	same(t, errors.Is(s.AppendEvent(ctx, two, said("e4", "hi", nil)), fs.ErrNotExist), true)
}

type foreign struct{ session.Session }

func TestAgentsShareASession(t *testing.T) {
	s := adksession.Sessions(opened(t))
	made := create(t, s, "user", "s", nil)
	var wait sync.WaitGroup
	for g := range 8 {
		wait.Go(func() {
			for i := range 10 {
				if err := s.AppendEvent(ctx, made, said("", "hi", map[string]any{fmt.Sprint("k", g): i})); err != nil {
					t.Error(err)
				}
				_ = maps.Collect(made.State().All())
				must(t, made.State().Set("mine", i))
				_ = made.Events().Len()
			}
		})
	}
	wait.Wait()
	same(t, get(t, s, "s").Events().Len(), 80)
	same(t, made.Events().Len(), 80)
}

func TestNumbersStayTheSame(t *testing.T) {
	store := opened(t)
	s := adksession.Sessions(store)
	_, err := store.Create(ctx, seslite.Key{App: "app", User: "user", Session: "s"},
		[]byte(`{"big":9007199254740993,"huge":123456789012345678901234567890,"int":7,"f":0.1,"deep":[{"x":-9223372036854775808}]}`), nil)
	must(t, err)
	state := maps.Collect(get(t, s, "s").State().All())
	same(t, state, "map[big:9007199254740993 deep:[map[x:-9.223372036854776e+18]] f:0.1 huge:123456789012345678901234567890 int:7]")
	_, isNumber := state["big"].(json.Number)
	_, isFloat := state["int"].(float64)
	same(t, []any{isNumber, isFloat}, "[true true]")
}

func TestEventsOfOtherADKsAreRead(t *testing.T) {
	store := opened(t)
	s := adksession.Sessions(store)
	create(t, s, "user", "s", nil)
	key := seslite.Key{App: "app", User: "user", Session: "s"}
	for _, text := range []string{
		`{"id":"p1","author":"user","invocationId":"i1","timestamp":1700000000.25,"content":{"parts":[{"text":"hi"}]},"actions":{"artifactDelta":{"a":0}}}`,
		`{"id":"p2","author":"agent","invocationId":"i2"}`,
	} {
		_, err := store.Append(ctx, key, []byte(text), nil)
		must(t, err)
	}
	events := get(t, s, "s").Events()
	same(t, []any{events.Len(), events.At(0).Timestamp.UnixMilli(), events.At(0).Actions.ArtifactDelta["a"]}, "[2 1700000000250 1]")
	_, err := store.Rewind(ctx, key, seslite.BeforeInvocation("i2"), nil)
	must(t, err)
	same(t, get(t, s, "s").Events().Len(), 1)
}

func TestArtifacts(t *testing.T) {
	store := opened(t)
	a := adksession.Artifacts(store)
	save := func(name string, part *genai.Part) int64 {
		saved, err := a.Save(ctx, &artifact.SaveRequest{AppName: "app", UserID: "user", SessionID: "s", FileName: name, Part: part})
		must(t, err)
		return saved.Version
	}
	load := func(name string, version int64) (*genai.Part, error) {
		loaded, err := a.Load(ctx, &artifact.LoadRequest{AppName: "app", UserID: "user", SessionID: "s", FileName: name, Version: version})
		if err != nil {
			return nil, err
		}
		return loaded.Part, nil
	}
	same(t, save("a.txt", genai.NewPartFromText("one")), 1)
	same(t, save("a.txt", genai.NewPartFromBytes([]byte("two"), "image/png")), 2)
	same(t, save("user:b", genai.NewPartFromText("b")), 1)
	part, err := load("a.txt", 0)
	must(t, err)
	same(t, []any{string(part.InlineData.Data), part.InlineData.MIMEType}, "[two image/png]")
	part, err = load("a.txt", 1)
	must(t, err)
	same(t, part.Text, "one")
	_, err = load("a.txt", 3)
	same(t, errors.Is(err, fs.ErrNotExist), true)
	listed, err := a.List(ctx, &artifact.ListRequest{AppName: "app", UserID: "user", SessionID: "s"})
	must(t, err)
	same(t, listed.FileNames, "[a.txt user:b]")
	versions, err := a.Versions(ctx, &artifact.VersionsRequest{AppName: "app", UserID: "user", SessionID: "s", FileName: "a.txt"})
	must(t, err)
	same(t, versions.Versions, "[2 1]")
	for version, want := range map[int64]string{0: "image/png", 1: "text/plain"} {
		found, err := a.GetArtifactVersion(ctx, &artifact.GetArtifactVersionRequest{
			AppName: "app", UserID: "user", SessionID: "s", FileName: "a.txt", Version: version,
		})
		must(t, err)
		same(t, found.ArtifactVersion.MimeType, want)
		same(t, found.ArtifactVersion.CanonicalURI != "" && !found.ArtifactVersion.CreateTime.IsZero(), true)
	}
	remove := func(version int64) error {
		return a.Delete(ctx, &artifact.DeleteRequest{AppName: "app", UserID: "user", SessionID: "s", FileName: "a.txt", Version: version})
	}
	same(t, errors.Is(remove(1), errors.ErrUnsupported), true)
	must(t, remove(9))
	must(t, remove(0))
	must(t, remove(0))
	_, err = a.Versions(ctx, &artifact.VersionsRequest{AppName: "app", UserID: "user", SessionID: "s", FileName: "a.txt"})
	same(t, errors.Is(err, fs.ErrNotExist), true)
}

func TestMemory(t *testing.T) {
	store := opened(t)
	s, m := adksession.Sessions(store), adksession.Memory(store)
	search := func(query string) (ids []string) {
		found, err := m.SearchMemory(ctx, &memory.SearchRequest{AppName: "app", UserID: "user", Query: query})
		must(t, err)
		for _, each := range found.Memories {
			ids = append(ids, each.ID+" "+each.Content.Parts[0].Text)
		}
		slices.Sort(ids)
		return ids
	}
	made := create(t, s, "user", "s", nil)
	must(t, s.AppendEvent(ctx, made, said("e1", "The train leaves", nil)))
	same(t, search("train"), "[]")
	must(t, m.AddSessionToMemory(ctx, made))
	must(t, s.AppendEvent(ctx, made, said("e2", "a train again", nil)))
	same(t, search("TRAIN"), "[e1 The train leaves]")
	must(t, m.AddSessionToMemory(ctx, made))
	must(t, m.AddSessionToMemory(ctx, made))
	same(t, search("nothing again train"), "[e1 The train leaves e2 a train again]")
	same(t, search(" "), "[]")
	must(t, s.Delete(ctx, &session.DeleteRequest{AppName: "app", UserID: "user", SessionID: "s"}))
	same(t, search("train"), "[]")
	same(t, errors.Is(m.AddSessionToMemory(ctx, made), fs.ErrNotExist), true)
}
