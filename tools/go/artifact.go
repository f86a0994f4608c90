package seslite

// #include "callbacks.h"
import "C"

import (
	"context"
	"encoding/json"
	"io"
	"iter"
	"time"
)

// An ArtifactKind says what the bytes of an artifact are. Any other number is of a later version of seslite: such an artifact
// is listed, and opening it is ErrUnsupported.
type ArtifactKind int

const (
	ArtifactBytes ArtifactKind = C.SES_ARTIFACT_BYTES // any bytes
	ArtifactText  ArtifactKind = C.SES_ARTIFACT_TEXT  // UTF-8
	ArtifactURI   ArtifactKind = C.SES_ARTIFACT_URI   // the address of a file, or of another artifact
)

// ArtifactInfo describes a version of an artifact.
type ArtifactInfo struct {
	Name        string // with its prefix user:, if it is the user's
	Version     int64  // 0, 1, 2 ...
	Created     time.Time
	Size        int64
	Kind        ArtifactKind
	MIMEType    string
	DisplayName string
	Metadata    json.RawMessage // a JSON object; nil: none was given
	Hash        string          // SHA-256 of the bytes, in hexadecimal
	URI         string          // the address of this version: artifact://apps/...
}

func artifactInfoOf(i *C.ses_artifact_info) ArtifactInfo {
	return ArtifactInfo{
		Name:        C.GoString(i.name),
		Version:     int64(i.version),
		Created:     timeOf(i.created_us),
		Size:        int64(i.size),
		Kind:        ArtifactKind(i.kind),
		MIMEType:    C.GoString(i.mime_type),
		DisplayName: C.GoString(i.display_name),
		Metadata:    borrowed(i.metadata, i.metadata_len),
		Hash:        C.GoString(i.hash),
		URI:         C.GoString(i.uri),
	}
}

// SaveOptions are those of a call that saves an artifact.
type SaveOptions struct {
	Anyway      bool // the session need not exist yet
	Kind        ArtifactKind
	MIMEType    string
	DisplayName string
	Metadata    []byte // a JSON object; nil: none
	Size        int64  // how many bytes the reader gives, otherwise ErrInvalid; 0: any number
	Created     time.Time
	MaxBytes    int64 // above which it is ErrLimit; 0: 64 MiB
}

// A content is what is saved: the bytes that a reader gives, and how many they are.
type content struct {
	length  C.size_t
	options *C.ses_artifact_save_options
}

func (c *call) content(r io.Reader, o *SaveOptions) content {
	if o == nil {
		o = &SaveOptions{}
	}
	made := &C.ses_artifact_save_options{
		size:         C.sizeof_ses_artifact_save_options,
		flags:        flag(o.Anyway, C.SES_ARTIFACT_WITHOUT_SESSION),
		kind:         C.int(o.Kind),
		mime_type:    c.optional(o.MIMEType),
		display_name: c.optional(o.DisplayName),
		created_us:   c.time(o.Created),
		max_bytes:    C.int64_t(o.MaxBytes),
		timeout_ms:   c.timeout,
		cancel:       c.cancel,
	}
	made.metadata, made.metadata_len = c.bytes(o.Metadata)
	what := content{length: C.SES_NUL, options: lend(c, made)}
	if o.Size > 0 {
		what.length = C.size_t(o.Size)
	}
	made.read = (*[0]byte)(C.ses_go_read)
	made.read_context = c.callback(&callback{read: r.Read})
	return what
}

// saving runs a call that saves an artifact.
func saving(ctx context.Context, on doer, r io.Reader, o *SaveOptions, f func(c *call, what content) C.int) error {
	if r == nil {
		return failure(ErrMisuse, "the reader is nil")
	}
	_, err := on.do(ctx, func(c *call) C.int { return f(c, c.content(r, o)) })
	return err
}

func (t target) saveArtifact(ctx context.Context, name string, r io.Reader, o *SaveOptions) (int64, error) {
	var version C.int64_t
	err := saving(ctx, t, r, o, func(c *call, what content) C.int {
		if c.session != nil {
			return C.ses_artifact_save(c.session, c.text(name), nil, what.length, what.options, &version, &c.err)
		}
		return C.ses_artifact_save_by_key(c.store, c.name, c.text(name), nil, what.length, what.options, &version, &c.err)
	})
	return int64(version), err
}

// SaveArtifact saves the next version of an artifact, and returns its number. One whose name begins with user: belongs to
// the user. The reader is read outside of transactions.
func (s *Session) SaveArtifact(ctx context.Context, name string, r io.Reader, options *SaveOptions) (int64, error) {
	return s.target().saveArtifact(ctx, name, r, options)
}

// SaveArtifact saves the next version of an artifact of a session, or without an id in the key of the user.
func (s *Store) SaveArtifact(ctx context.Context, key Key, name string, r io.Reader, options *SaveOptions) (int64, error) {
	return target{store: s, key: key}.saveArtifact(ctx, name, r, options)
}

// infos copies a page of a list of artifacts.
func infos(list *C.ses_artifact_list) (page []ArtifactInfo, more bool) {
	for i := C.size_t(0); i < C.ses_artifact_list_count(list); i++ {
		page = append(page, artifactInfoOf(C.ses_artifact_list_at(list, i)))
	}
	return page, C.ses_artifact_list_more(list) != 0
}

// listing yields the artifacts of all pages. Each begins after the last one of the page before.
func (t target) listing(ctx context.Context, list func(c *call, o *C.ses_artifact_list_options, list **C.ses_artifact_list) C.int) iter.Seq2[ArtifactInfo, error] {
	var last *ArtifactInfo
	return pages(func() (page []ArtifactInfo, more bool, err error) {
		_, err = t.do(ctx, func(c *call) C.int {
			options := &C.ses_artifact_list_options{
				size:       C.sizeof_ses_artifact_list_options,
				timeout_ms: c.timeout,
				cancel:     c.cancel,
			}
			if last != nil {
				options.after, options.first_version = c.text(last.Name), C.int64_t(last.Version+1)
			}
			var found *C.ses_artifact_list
			code := list(c, lend(c, options), &found)
			if found != nil {
				page, more = infos(found)
				C.ses_artifact_list_close(found)
			}
			return code
		})
		if len(page) > 0 {
			last = &page[len(page)-1]
		}
		return page, more, err
	})
}

func (t target) artifacts(ctx context.Context) iter.Seq2[ArtifactInfo, error] {
	return t.listing(ctx, func(c *call, o *C.ses_artifact_list_options, list **C.ses_artifact_list) C.int {
		o.first_version = 0
		if c.session != nil {
			return C.ses_artifact_names(c.session, o, list, &c.err)
		}
		return C.ses_artifact_names_by_key(c.store, c.name, o, list, &c.err)
	})
}

// Artifacts yields the artifacts of the session and of its user, each with its newest version, in the order of their names.
func (s *Session) Artifacts(ctx context.Context) iter.Seq2[ArtifactInfo, error] {
	return s.target().artifacts(ctx)
}

// Artifacts yields the artifacts of a session and of its user, or without an id in the key only the user's.
func (s *Store) Artifacts(ctx context.Context, key Key) iter.Seq2[ArtifactInfo, error] {
	return target{store: s, key: key}.artifacts(ctx)
}

func (t target) artifactVersions(ctx context.Context, name string) iter.Seq2[ArtifactInfo, error] {
	return t.listing(ctx, func(c *call, o *C.ses_artifact_list_options, list **C.ses_artifact_list) C.int {
		o.after = nil
		if c.session != nil {
			return C.ses_artifact_versions(c.session, c.text(name), o, list, &c.err)
		}
		return C.ses_artifact_versions_by_key(c.store, c.name, c.text(name), o, list, &c.err)
	})
}

// ArtifactVersions yields the versions of an artifact, the oldest first.
func (s *Session) ArtifactVersions(ctx context.Context, name string) iter.Seq2[ArtifactInfo, error] {
	return s.target().artifactVersions(ctx, name)
}

// ArtifactVersions yields the versions of an artifact of a session or its user, the oldest first.
func (s *Store) ArtifactVersions(ctx context.Context, key Key, name string) iter.Seq2[ArtifactInfo, error] {
	return target{store: s, key: key}.artifactVersions(ctx, name)
}

func (t target) deleteArtifact(ctx context.Context, name string, o *DeleteOptions) (Deleted, error) {
	return deleting(ctx, t, func(c *call, count, _ *C.int64_t) C.int {
		if c.session != nil {
			return C.ses_artifact_delete(c.session, c.text(name), c.deleteOptions(o), count, &c.err)
		}
		return C.ses_artifact_delete_by_key(c.store, c.name, c.text(name), c.deleteOptions(o), count, &c.err)
	})
}

// DeleteArtifact deletes all versions of an artifact. That there is none is not an error.
func (s *Session) DeleteArtifact(ctx context.Context, name string, options *DeleteOptions) (Deleted, error) {
	return s.target().deleteArtifact(ctx, name, options)
}

// DeleteArtifact deletes all versions of an artifact of a session or its user.
func (s *Store) DeleteArtifact(ctx context.Context, key Key, name string, options *DeleteOptions) (Deleted, error) {
	return target{store: s, key: key}.deleteArtifact(ctx, name, options)
}

func (t target) inlineArtifacts(ctx context.Context, event []byte, bytes int64) (json.RawMessage, error) {
	return giving(ctx, t, func(c *call, inlined *owned) C.int {
		text, length := c.bytes(event)
		options := lend(c, &C.ses_artifact_inline_options{
			size:       C.sizeof_ses_artifact_inline_options,
			bytes:      C.int64_t(bytes),
			timeout_ms: c.timeout,
			cancel:     c.cancel,
		})
		if c.session != nil {
			return C.ses_artifact_inline(c.session, text, length, options, &inlined.text, &inlined.len, &c.err)
		}
		return C.ses_artifact_inline_by_key(c.store, c.name, text, length, options, &inlined.text, &inlined.len, &c.err)
	})
}

// InlineArtifacts returns the JSON of an event of the session with the bytes of artifacts in place of references to them, for
// programs that do not read artifacts: it undoes Attachments.Offload. It puts in at most so many bytes; 0: any number. It
// returns nil if all references stay, or there are none.
func (s *Session) InlineArtifacts(ctx context.Context, event []byte, bytes int64) (json.RawMessage, error) {
	return s.target().inlineArtifacts(ctx, event, bytes)
}

// InlineArtifacts does the same for a session that need not exist.
func (s *Store) InlineArtifacts(ctx context.Context, key Key, event []byte, bytes int64) (json.RawMessage, error) {
	return target{store: s, key: key}.inlineArtifacts(ctx, event, bytes)
}
