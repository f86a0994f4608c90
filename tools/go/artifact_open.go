package seslite

// #include "callbacks.h"
import "C"

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync"
	"unsafe"
)

// OpenArtifactOptions are those of OpenArtifact.
type OpenArtifactOptions struct {
	Version *int64 // nil: the newest
	Stored  bool   // what is stored: references and tombstones are opened themselves
}

// An Artifact is a version of an artifact that is open for reading. It is an io.ReadSeekCloser and an io.ReaderAt, and the
// context with which it was opened limits its reads. Bytes that are read in order from the first on are compared with
// their hash: the last read returns ErrCorrupt if they differ.
type Artifact struct {
	store   *Store
	ctx     context.Context
	info    ArtifactInfo
	mu      sync.Mutex
	p       *C.ses_artifact
	cancel  *C.ses_cancel
	offset  int64
	cleanup runtime.Cleanup
}

type artifactHandles struct {
	p      *C.ses_artifact
	cancel *C.ses_cancel
}

func (h artifactHandles) free() {
	C.ses_artifact_close(h.p)
	C.ses_cancel_close(h.cancel)
}

func (t target) openArtifact(ctx context.Context, name string, o *OpenArtifactOptions) (*Artifact, error) {
	if o == nil {
		o = &OpenArtifactOptions{}
	}
	handle, err := t.store.lasting()
	if err != nil {
		return nil, err
	}
	var p *C.ses_artifact
	_, err = t.do(ctx, func(c *call) C.int {
		if ctx.Done() != nil {
			defer watch(ctx, handle)()
		}
		made := &C.ses_artifact_open_options{
			size:   C.sizeof_ses_artifact_open_options,
			flags:  flag(o.Stored, C.SES_ARTIFACT_OPEN_STORED),
			cancel: handle,
		}
		if o.Version != nil {
			version := C.int64_t(*o.Version)
			made.version = lend(c, &version)
		}
		if c.session != nil {
			return C.ses_artifact_open(c.session, c.text(name), lend(c, made), &p, &c.err)
		}
		return C.ses_artifact_open_by_key(c.store, c.name, c.text(name), lend(c, made), &p, &c.err)
	})
	if err != nil {
		C.ses_cancel_close(handle)
		return nil, err
	}
	a := &Artifact{store: t.store, ctx: ctx, p: p, cancel: handle, info: artifactInfoOf(C.ses_artifact_info_of(p))}
	a.cleanup = runtime.AddCleanup(a, artifactHandles.free, artifactHandles{p, handle})
	return a, nil
}

// OpenArtifact opens a version of an artifact for reading. ErrNotFound: there is none.
func (s *Session) OpenArtifact(ctx context.Context, name string, options *OpenArtifactOptions) (*Artifact, error) {
	return s.target().openArtifact(ctx, name, options)
}

// OpenArtifact opens a version of an artifact of a session or its user for reading.
func (s *Store) OpenArtifact(ctx context.Context, key Key, name string, options *OpenArtifactOptions) (*Artifact, error) {
	return target{store: s, key: key}.openArtifact(ctx, name, options)
}

// Info describes the version that is open.
func (a *Artifact) Info() ArtifactInfo { return a.info }

// readAt reads what one call gives. a.mu is held.
func (a *Artifact) readAt(b []byte, offset int64) (int, error) {
	if a.p == nil {
		return 0, closed("artifact")
	}
	if len(b) == 0 {
		return 0, nil
	}
	var n C.size_t
	_, err := a.store.doWith(a.ctx, a.cancel, func(c *call) C.int {
		return C.ses_artifact_read(a.p, C.int64_t(offset), unsafe.Pointer(&b[0]), C.size_t(len(b)), &n, &c.err)
	})
	if err == nil && int(n) < len(b) {
		err = io.EOF
	}
	return int(n), err
}

// Read reads the next bytes.
func (a *Artifact) Read(b []byte) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	n, err := a.readAt(b, a.offset)
	a.offset += int64(n)
	if n > 0 && err == io.EOF {
		err = nil
	}
	return n, err
}

// ReadAt reads the bytes at an offset.
func (a *Artifact) ReadAt(b []byte, offset int64) (int, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.readAt(b, offset)
}

// Seek sets where the next Read begins.
func (a *Artifact) Seek(offset int64, whence int) (int64, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	switch whence {
	case io.SeekStart:
	case io.SeekCurrent:
		offset += a.offset
	case io.SeekEnd:
		offset += a.info.Size
	default:
		return 0, errors.New("seslite: invalid whence")
	}
	if offset < 0 {
		return 0, errors.New("seslite: a negative position")
	}
	a.offset = offset
	return offset, nil
}

// Close frees the open artifact. Closing again does nothing.
func (a *Artifact) Close() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.p != nil {
		a.cleanup.Stop()
		artifactHandles{a.p, a.cancel}.free()
		a.p = nil
	}
	return nil
}

// Attachments are artifacts that are saved in the transaction of the event that they are appended with: an event never
// names an artifact that is not there. After a failure the same attachments can be given to the next try.
type Attachments struct {
	store   *Store
	mu      sync.Mutex
	p       *C.ses_artifacts
	cleanup runtime.Cleanup
}

// NewAttachments makes an empty list for appends to a session.
func (s *Store) NewAttachments(key Key) (*Attachments, error) {
	var p *C.ses_artifacts
	_, err := s.do(background, func(c *call) C.int { return C.ses_artifacts_open(c.store, c.key(key), &p, &c.err) })
	if err != nil {
		return nil, err
	}
	a := &Attachments{store: s, p: p}
	a.cleanup = runtime.AddCleanup(a, func(p *C.ses_artifacts) { C.ses_artifacts_close(p) }, p)
	return a, nil
}

func (a *Attachments) lock() (unlock func(), err error) {
	a.mu.Lock()
	if a.p == nil {
		a.mu.Unlock()
		return nil, closed("list of attachments")
	}
	return a.mu.Unlock, nil
}

// Add adds an artifact. More than 4 MiB are written to the store at once, where nobody sees them before the append.
func (a *Attachments) Add(ctx context.Context, name string, r io.Reader, options *SaveOptions) error {
	unlock, err := a.lock()
	if err != nil {
		return err
	}
	defer unlock()
	return saving(ctx, a.store, r, options, func(c *call, what content) C.int {
		return C.ses_artifacts_add(a.p, c.text(name), nil, what.length, what.options, &c.err)
	})
}

// Offload makes appends keep inline data of more than so many bytes as artifacts, and put their addresses in its place.
func (a *Attachments) Offload(bytes int64) error {
	unlock, err := a.lock()
	if err != nil {
		return err
	}
	defer unlock()
	_, err = a.store.do(background, func(c *call) C.int {
		return C.ses_artifacts_offload(a.p, C.int64_t(bytes), &c.err)
	})
	return err
}

// Version returns the version that an artifact got with the last append; -1 past the end.
func (a *Attachments) Version(index int) int64 {
	unlock, err := a.lock()
	if err != nil {
		return -1
	}
	defer unlock()
	return int64(C.ses_artifacts_version(a.p, C.size_t(index))) // a negative index is past the end, too
}

// Close frees the list.
func (a *Attachments) Close() error {
	unlock, err := a.lock()
	if err == nil {
		defer unlock()
		a.cleanup.Stop()
		C.ses_artifacts_close(a.p)
		a.p = nil
	}
	return nil
}
