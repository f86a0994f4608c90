// Package artifact stands in for the one of adk-go in tests, where its module cannot be had: only what an artifact service
// uses.
package artifact

import (
	"context"
	"errors"
	"time"

	"google.golang.org/genai"
)

// Service keeps artifacts.
type Service interface {
	Save(context.Context, *SaveRequest) (*SaveResponse, error)
	Load(context.Context, *LoadRequest) (*LoadResponse, error)
	Delete(context.Context, *DeleteRequest) error
	List(context.Context, *ListRequest) (*ListResponse, error)
	Versions(context.Context, *VersionsRequest) (*VersionsResponse, error)
	GetArtifactVersion(context.Context, *GetArtifactVersionRequest) (*GetArtifactVersionResponse, error)
}

type (
	// SaveRequest has an artifact to save.
	SaveRequest struct {
		AppName, UserID, SessionID, FileName string
		Part                                 *genai.Part
		Version                              int64
	}
	// SaveResponse has its version.
	SaveResponse struct{ Version int64 }
	// LoadRequest names an artifact.
	LoadRequest struct {
		AppName, UserID, SessionID, FileName string
		Version                              int64
	}
	// LoadResponse has it.
	LoadResponse struct{ Part *genai.Part }
	// DeleteRequest names an artifact to delete.
	DeleteRequest struct {
		AppName, UserID, SessionID, FileName string
		Version                              int64
	}
	// ListRequest asks for the names of artifacts.
	ListRequest struct{ AppName, UserID, SessionID string }
	// ListResponse has them.
	ListResponse struct{ FileNames []string }
	// VersionsRequest asks for the versions of an artifact.
	VersionsRequest struct{ AppName, UserID, SessionID, FileName string }
	// VersionsResponse has them.
	VersionsResponse struct{ Versions []int64 }
	// GetArtifactVersionRequest names a version.
	GetArtifactVersionRequest struct {
		AppName, UserID, SessionID, FileName string
		Version                              int64
	}
	// GetArtifactVersionResponse describes it.
	GetArtifactVersionResponse struct{ ArtifactVersion *ArtifactVersion }
	// ArtifactVersion describes a version of an artifact.
	ArtifactVersion struct {
		Version        int64
		CanonicalURI   string
		CustomMetadata map[string]any
		CreateTime     time.Time
		MimeType       string
	}
)

func complete(texts ...string) error {
	for _, text := range texts {
		if text == "" {
			return errors.New("a field is missing")
		}
	}
	return nil
}

// Validate looks for missing fields.
func (r *SaveRequest) Validate() error {
	if r.Part == nil {
		return errors.New("the part is missing")
	}
	return complete(r.AppName, r.UserID, r.SessionID, r.FileName)
}

// Validate looks for missing fields.
func (r *LoadRequest) Validate() error {
	return complete(r.AppName, r.UserID, r.SessionID, r.FileName)
}

// Validate looks for missing fields.
func (r *DeleteRequest) Validate() error {
	return complete(r.AppName, r.UserID, r.SessionID, r.FileName)
}

// Validate looks for missing fields.
func (r *ListRequest) Validate() error { return complete(r.AppName, r.UserID, r.SessionID) }

// Validate looks for missing fields.
func (r *VersionsRequest) Validate() error {
	return complete(r.AppName, r.UserID, r.SessionID, r.FileName)
}

// Validate looks for missing fields.
func (r *GetArtifactVersionRequest) Validate() error {
	return complete(r.AppName, r.UserID, r.SessionID, r.FileName)
}
