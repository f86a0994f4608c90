package adksession

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"

	"google.golang.org/adk/v2/memory"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"example.org/seslite"
)

// label is the one of a session that is remembered, as in the package for Python: up to which event, or all of it.
const (
	label = "memory"
	all   = "all"
)

// maxEntries is how many entries a search gives.
const maxEntries = 100

// Memory returns a memory service on a store. Nothing is copied: adding a session marks how much of it is remembered, and
// deleting the session forgets it. A search finds events with at least one of the words, those of the sessions that were
// updated last first, and at most 100. Call Store.Index once in a while: without an index, all events are read.
func Memory(store *seslite.Store) memory.Service { return &memories{store} }

type memories struct{ store *seslite.Store }

// AddSessionToMemory implements memory.Service. The session must be in the store.
func (m *memories) AddSessionToMemory(ctx context.Context, s session.Session) error {
	if s == nil {
		return errors.New("adksession: the session is nil")
	}
	key := seslite.Key{App: s.AppName(), User: s.UserID(), Session: s.ID()}
	stored, err := m.store.Get(ctx, key, &seslite.Range{None: true})
	if err != nil {
		return missing(err)
	}
	defer stored.Close()
	before, _ := stored.Label(label)
	for i := s.Events().Len() - 1; i >= 0; i-- {
		event, err := m.store.EventByID(ctx, key, s.Events().At(i).ID)
		if err != nil {
			return err
		}
		if event != nil {
			if !remembers(before, event.Seq) {
				return m.store.SetLabels(ctx, key, map[string]string{label: strconv.FormatInt(event.Seq, 10)})
			}
			break
		}
	}
	return nil
}

// remembers reports whether a label says that an event is remembered.
func remembers(value string, seq int64) bool {
	last, err := strconv.ParseInt(value, 10, 64)
	return value == all || err == nil && last >= seq
}

// SearchMemory implements memory.Service.
func (m *memories) SearchMemory(ctx context.Context, req *memory.SearchRequest) (*memory.SearchResponse, error) {
	if req == nil || req.AppName == "" || req.UserID == "" {
		return nil, errors.New("adksession: the app's name and the user's id are required")
	}
	response := &memory.SearchResponse{Memories: []memory.Entry{}}
	if strings.TrimSpace(req.Query) == "" {
		return response, nil
	}
	marks := map[string]string{}
	options := &seslite.SearchOptions{Any: true, Live: true, Limit: maxEntries, Filter: &seslite.Filter{Label: label}}
	for hit, err := range m.store.SearchAll(ctx, seslite.Key{App: req.AppName, User: req.UserID}, req.Query, options) {
		if err != nil {
			return nil, err
		}
		key := seslite.Key{App: req.AppName, User: req.UserID, Session: hit.Session}
		entry, err := m.entry(ctx, key, hit, marks)
		if err != nil {
			return nil, err
		}
		if entry != nil {
			response.Memories = append(response.Memories, *entry)
		}
		if len(response.Memories) == maxEntries {
			break
		}
	}
	return response, nil
}

// entry reads what was found. It is nil if that is not remembered, or was deleted meanwhile.
func (m *memories) entry(ctx context.Context, key seslite.Key, hit seslite.Hit, marks map[string]string) (*memory.Entry, error) {
	mark, known := marks[key.Session]
	if !known {
		stored, err := m.store.Get(ctx, key, &seslite.Range{None: true})
		if err == nil {
			mark, _ = stored.Label(label)
			err = stored.Close()
		}
		if err != nil && !errors.Is(err, seslite.ErrNotFound) {
			return nil, err
		}
		marks[key.Session] = mark
	}
	if !remembers(mark, hit.Seq) {
		return nil, nil
	}
	event, err := m.store.EventByID(ctx, key, hit.ID)
	if errors.Is(err, seslite.ErrNotFound) || err == nil && event == nil {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	said := struct {
		Content        *genai.Content `json:"content"`
		CustomMetadata map[string]any `json:"customMetadata"`
	}{}
	if err := json.Unmarshal(event.JSON, &said); err != nil {
		return nil, err
	}
	return &memory.Entry{ID: hit.ID, Content: said.Content, Author: hit.Author, Timestamp: hit.Time, CustomMetadata: said.CustomMetadata}, nil
}
