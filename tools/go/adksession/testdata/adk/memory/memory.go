// Package memory stands in for the one of adk-go in tests, where its module cannot be had: only what a memory service uses.
package memory

import (
	"context"
	"time"

	"google.golang.org/genai"

	"google.golang.org/adk/v2/session"
)

// Service remembers sessions.
type Service interface {
	AddSessionToMemory(context.Context, session.Session) error
	SearchMemory(context.Context, *SearchRequest) (*SearchResponse, error)
}

// SearchRequest asks what is remembered.
type SearchRequest struct{ Query, UserID, AppName string }

// SearchResponse has it.
type SearchResponse struct{ Memories []Entry }

// Entry is something remembered.
type Entry struct {
	ID             string
	Content        *genai.Content
	Author         string
	Timestamp      time.Time
	CustomMetadata map[string]any
}
