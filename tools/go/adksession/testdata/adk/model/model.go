// Package model stands in for the one of adk-go in tests, where its module cannot be had: only what a session service uses.
package model

import "google.golang.org/genai"

// LLMResponse is what a model said.
type LLMResponse struct {
	Content        *genai.Content                              `json:"content,omitempty"`
	UsageMetadata  *genai.GenerateContentResponseUsageMetadata `json:"usageMetadata,omitempty"`
	CustomMetadata map[string]any                              `json:"customMetadata,omitempty"`
	Partial        bool                                        `json:"partial,omitempty"`
	TurnComplete   bool                                        `json:"turnComplete,omitempty"`
	ErrorCode      string                                      `json:"errorCode,omitempty"`
	ErrorMessage   string                                      `json:"errorMessage,omitempty"`
}
