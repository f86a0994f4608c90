package adksession

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"

	"google.golang.org/adk/v2/artifact"
	"google.golang.org/genai"

	"example.org/seslite"
)

// Artifacts returns an artifact service on a store. Artifacts are deleted with their session, and those whose names begin
// with user: with their user. As adk-go counts, versions begin with 1; in the store they begin with 0.
func Artifacts(store *seslite.Store) artifact.Service { return &artifacts{store} }

type artifacts struct{ store *seslite.Store }

// Save implements artifact.Service. The store gives the version, whatever version the request has.
func (a *artifacts) Save(ctx context.Context, req *artifact.SaveRequest) (*artifact.SaveResponse, error) {
	if err := req.Validate(); err != nil {
		return nil, fmt.Errorf("adksession: %w", err)
	}
	options := &seslite.SaveOptions{Anyway: true}
	content := []byte(req.Part.Text)
	if data := req.Part.InlineData; data != nil {
		content, options.MIMEType, options.DisplayName = data.Data, data.MIMEType, data.DisplayName
	} else {
		options.Kind = seslite.ArtifactText
	}
	key := seslite.Key{App: req.AppName, User: req.UserID, Session: req.SessionID}
	version, err := a.store.SaveArtifact(ctx, key, req.FileName, bytes.NewReader(content), options)
	if err != nil {
		return nil, err
	}
	return &artifact.SaveResponse{Version: version + 1}, nil
}

// open opens a version; 0: the newest.
func (a *artifacts) open(ctx context.Context, key seslite.Key, name string, version int64) (*seslite.Artifact, error) {
	options := &seslite.OpenArtifactOptions{}
	if version > 0 {
		version--
		options.Version = &version
	}
	found, err := a.store.OpenArtifact(ctx, key, name, options)
	return found, missing(err)
}

// Load implements artifact.Service.
func (a *artifacts) Load(ctx context.Context, req *artifact.LoadRequest) (*artifact.LoadResponse, error) {
	if err := req.Validate(); err != nil {
		return nil, fmt.Errorf("adksession: %w", err)
	}
	key := seslite.Key{App: req.AppName, User: req.UserID, Session: req.SessionID}
	found, err := a.open(ctx, key, req.FileName, req.Version)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	content, err := io.ReadAll(found)
	if err != nil {
		return nil, err
	}
	return &artifact.LoadResponse{Part: partOf(found.Info(), content)}, nil
}

func partOf(info seslite.ArtifactInfo, content []byte) *genai.Part {
	switch info.Kind {
	case seslite.ArtifactText:
		return &genai.Part{Text: string(content)}
	case seslite.ArtifactURI:
		return &genai.Part{FileData: &genai.FileData{FileURI: string(content), MIMEType: info.MIMEType, DisplayName: info.DisplayName}}
	}
	return &genai.Part{InlineData: &genai.Blob{Data: content, MIMEType: info.MIMEType, DisplayName: info.DisplayName}}
}

// Delete implements artifact.Service. A store deletes all versions of an artifact: one of several is errors.ErrUnsupported.
func (a *artifacts) Delete(ctx context.Context, req *artifact.DeleteRequest) error {
	if err := req.Validate(); err != nil {
		return fmt.Errorf("adksession: %w", err)
	}
	key := seslite.Key{App: req.AppName, User: req.UserID, Session: req.SessionID}
	if req.Version != 0 {
		versions, err := a.versions(ctx, key, req.FileName)
		if err != nil || !slices.Contains(versions, req.Version) {
			return err
		}
		if len(versions) > 1 {
			return fmt.Errorf("adksession: version %d of %q cannot be deleted alone: %w", req.Version, req.FileName, errors.ErrUnsupported)
		}
	}
	_, err := a.store.DeleteArtifact(ctx, key, req.FileName, nil)
	return err
}

// List implements artifact.Service.
func (a *artifacts) List(ctx context.Context, req *artifact.ListRequest) (*artifact.ListResponse, error) {
	if err := req.Validate(); err != nil {
		return nil, fmt.Errorf("adksession: %w", err)
	}
	names := []string{}
	for info, err := range a.store.Artifacts(ctx, seslite.Key{App: req.AppName, User: req.UserID, Session: req.SessionID}) {
		if err != nil {
			return nil, err
		}
		names = append(names, info.Name)
	}
	return &artifact.ListResponse{FileNames: names}, nil
}

// versions lists the versions of an artifact, the newest first, as adk-go does.
func (a *artifacts) versions(ctx context.Context, key seslite.Key, name string) ([]int64, error) {
	var versions []int64
	for info, err := range a.store.ArtifactVersions(ctx, key, name) {
		if err != nil {
			return nil, err
		}
		versions = append(versions, info.Version+1)
	}
	slices.Reverse(versions)
	return versions, nil
}

// Versions implements artifact.Service. An artifact that does not exist is fs.ErrNotExist.
func (a *artifacts) Versions(ctx context.Context, req *artifact.VersionsRequest) (*artifact.VersionsResponse, error) {
	if err := req.Validate(); err != nil {
		return nil, fmt.Errorf("adksession: %w", err)
	}
	versions, err := a.versions(ctx, seslite.Key{App: req.AppName, User: req.UserID, Session: req.SessionID}, req.FileName)
	if err != nil {
		return nil, err
	}
	if len(versions) == 0 {
		return nil, missing(seslite.ErrNotFound)
	}
	return &artifact.VersionsResponse{Versions: versions}, nil
}

// GetArtifactVersion implements artifact.Service.
func (a *artifacts) GetArtifactVersion(ctx context.Context, req *artifact.GetArtifactVersionRequest) (*artifact.GetArtifactVersionResponse, error) {
	if err := req.Validate(); err != nil {
		return nil, fmt.Errorf("adksession: %w", err)
	}
	key := seslite.Key{App: req.AppName, User: req.UserID, Session: req.SessionID}
	found, err := a.open(ctx, key, req.FileName, req.Version)
	if err != nil {
		return nil, err
	}
	defer found.Close()
	info := found.Info()
	made := &artifact.ArtifactVersion{
		Version:      info.Version + 1,
		CanonicalURI: info.URI,
		CreateTime:   info.Created,
		MimeType:     info.MIMEType,
	}
	if info.Kind == seslite.ArtifactText && info.MIMEType == "" {
		made.MimeType = "text/plain"
	}
	if info.Metadata != nil {
		if err := json.Unmarshal(info.Metadata, &made.CustomMetadata); err != nil {
			return nil, err
		}
	}
	return &artifact.GetArtifactVersionResponse{ArtifactVersion: made}, nil
}
