package adksession

import (
	"context"
	"encoding/json"
	"errors"

	"google.golang.org/adk/v2/memory"
	"google.golang.org/adk/v2/session"
	"google.golang.org/genai"

	"example.org/seslite"
)

// maxEntries is how many entries a search gives.
const maxEntries = 100

// Memory returns a memory service on a store, which the services of the other packages share. Nothing is copied: a session
// has the number of the last event that is remembered, and deleting the session forgets it. A search finds events with at
// least one of the words, those with most of them first, and at most 100. Call Store.Index once in a while: without an
// index, all events that are remembered are read.
func Memory(store *seslite.Store) memory.Service { return &memories{store} }

type memories struct{ store *seslite.Store }

// AddSessionToMemory implements memory.Service. The session must be in the store.
func (m *memories) AddSessionToMemory(ctx context.Context, s session.Session) error {
	if s == nil {
		return errors.New("adksession: the session is nil")
	}
	key := seslite.Key{App: s.AppName(), User: s.UserID(), Session: s.ID()}
	for i := s.Events().Len() - 1; i >= 0; i-- {
		event, err := m.store.EventByID(ctx, key, s.Events().At(i).ID)
		if err != nil {
			return missing(err)
		}
		if event != nil {
			return missing(m.store.RememberSession(ctx, key, event.Seq))
		}
	}
	return nil
}

// SearchMemory implements memory.Service.
func (m *memories) SearchMemory(ctx context.Context, req *memory.SearchRequest) (*memory.SearchResponse, error) {
	if req == nil || req.AppName == "" || req.UserID == "" {
		return nil, errors.New("adksession: the app's name and the user's id are required")
	}
	response := &memory.SearchResponse{Memories: []memory.Entry{}}
	hits, err := m.store.Recall(ctx, req.AppName, req.UserID, req.Query, &seslite.RecallOptions{Limit: maxEntries})
	if err != nil {
		return nil, err
	}
	for _, hit := range hits {
		entry, err := entryOf(hit)
		if err != nil {
			return nil, err
		}
		response.Memories = append(response.Memories, entry)
	}
	return response, nil
}

func entryOf(hit seslite.Hit) (memory.Entry, error) {
	said := struct {
		Content        *genai.Content `json:"content"`
		CustomMetadata map[string]any `json:"customMetadata"`
	}{}
	if err := json.Unmarshal(hit.JSON, &said); err != nil {
		return memory.Entry{}, err
	}
	return memory.Entry{
		ID: hit.ID, Content: said.Content, Author: hit.Author, Timestamp: hit.Time, CustomMetadata: said.CustomMetadata,
	}, nil
}
