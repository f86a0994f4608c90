// Package session stands in for the one of adk-go in tests, where its module cannot be had: only what a session service uses.
package session

import (
	"context"
	"errors"
	"iter"
	"time"

	"google.golang.org/adk/v2/model"
)

// ErrStateKeyNotExist is returned for a key that a state lacks.
var ErrStateKeyNotExist = errors.New("no such key")

// KeyPrefixTemp is the prefix of keys that are not stored.
const KeyPrefixTemp = "temp:"

// Service keeps sessions.
type Service interface {
	Create(context.Context, *CreateRequest) (*CreateResponse, error)
	Get(context.Context, *GetRequest) (*GetResponse, error)
	List(context.Context, *ListRequest) (*ListResponse, error)
	Delete(context.Context, *DeleteRequest) error
	AppendEvent(context.Context, Session, *Event) error
}

type (
	// CreateRequest asks for a new session.
	CreateRequest struct {
		AppName, UserID, SessionID string
		State                      map[string]any
	}
	// CreateResponse has the new session.
	CreateResponse struct{ Session Session }
	// GetRequest asks for a session.
	GetRequest struct {
		AppName, UserID, SessionID string
		NumRecentEvents            int
		After                      time.Time
	}
	// GetResponse has the session.
	GetResponse struct{ Session Session }
	// ListRequest asks for sessions.
	ListRequest struct{ AppName, UserID string }
	// ListResponse has the sessions.
	ListResponse struct{ Sessions []Session }
	// DeleteRequest names a session to delete.
	DeleteRequest struct{ AppName, UserID, SessionID string }
)

// Session is a conversation.
type Session interface {
	ID() string
	AppName() string
	UserID() string
	State() State
	Events() Events
	LastUpdateTime() time.Time
}

// State is that of a session.
type State interface {
	Get(string) (any, error)
	Set(string, any) error
	All() iter.Seq2[string, any]
}

// Events are those of a session.
type Events interface {
	All() iter.Seq[*Event]
	Len() int
	At(i int) *Event
}

// Event is one of a session.
type Event struct {
	model.LLMResponse

	ID                 string       `json:"id"`
	Timestamp          time.Time    `json:"timestamp"`
	InvocationID       string       `json:"invocationId"`
	Branch             string       `json:"branch,omitempty"`
	Author             string       `json:"author"`
	Actions            EventActions `json:"actions"`
	LongRunningToolIDs []string     `json:"longRunningToolIds,omitempty"`
}

// EventActions are what an event does.
type EventActions struct {
	StateDelta        map[string]any   `json:"stateDelta,omitempty"`
	ArtifactDelta     map[string]int64 `json:"artifactDelta,omitempty"`
	SkipSummarization bool             `json:"skipSummarization,omitempty"`
	TransferToAgent   string           `json:"transferToAgent,omitempty"`
	Escalate          bool             `json:"escalate,omitempty"`
}
