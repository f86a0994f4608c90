package seslite_test

import (
	"bytes"
	"io"
	"math/rand"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"example.org/seslite"
)

func names(t *testing.T, infos func(yield func(seslite.ArtifactInfo, error) bool)) (names []string) {
	for info, err := range infos {
		must(t, err)
		names = append(names, info.Name)
	}
	return names
}

func TestArtifactsAreSavedAndRead(t *testing.T) {
	store, _ := openFile(t)
	session := create(t, store, key, "")
	random := make([]byte, 300_000)
	rand.New(rand.NewSource(1)).Read(random)
	version, err := session.SaveArtifact(ctx, "a.bin", bytes.NewReader(random), &seslite.SaveOptions{
		MIMEType: "image/png", DisplayName: "A", Metadata: []byte(`{"x":1}`), Size: int64(len(random)), Created: time.Unix(5, 0),
	})
	same(t, []any{version, err}, "[0 <nil>]")
	artifact, err := session.OpenArtifact(ctx, "a.bin", nil)
	must(t, err)
	info := artifact.Info()
	same(t, []any{info.Name, info.Size, info.MIMEType, info.DisplayName, string(info.Metadata), info.Created.Unix(), len(info.Hash)},
		"[a.bin 300000 image/png A {\"x\":1} 5 64]")
	must(t, iotest.TestReader(artifact, random))
	must(t, artifact.Close())
	must(t, artifact.Close())
	_, err = artifact.Read(make([]byte, 1))
	got(t, err, seslite.ErrMisuse)

	version, err = store.SaveArtifact(ctx, key, "a.bin", strings.NewReader("text"), &seslite.SaveOptions{Kind: seslite.ArtifactText})
	same(t, []any{version, err}, "[1 <nil>]")
	user := seslite.Key{App: "app", User: "user"}
	_, err = store.SaveArtifact(ctx, user, "shared.txt", strings.NewReader("s"), nil)
	must(t, err)
	same(t, names(t, session.Artifacts(ctx)), "[a.bin user:shared.txt]")
	same(t, names(t, store.Artifacts(ctx, user)), "[user:shared.txt]")
	same(t, names(t, session.ArtifactVersions(ctx, "a.bin")), "[a.bin a.bin]")
	same(t, names(t, store.ArtifactVersions(ctx, key, "none")), "[]")
	for i := range 102 { // more than a page
		_, err = session.SaveArtifact(ctx, "many", strings.NewReader(strings.Repeat("x", i)), nil)
		must(t, err)
	}
	same(t, len(names(t, session.ArtifactVersions(ctx, "many"))), 102)
	first, err := store.OpenArtifact(ctx, key, "a.bin", &seslite.OpenArtifactOptions{Version: pointer(int64(0)), Stored: true})
	must(t, err)
	all, err := io.ReadAll(first)
	same(t, []any{bytes.Equal(all, random), err}, "[true <nil>]")
	must(t, first.Close())

	deleted, err := session.DeleteArtifact(ctx, "a.bin", nil)
	same(t, []any{deleted.Count, err}, "[2 <nil>]")
	deleted, err = store.DeleteArtifact(ctx, key, "a.bin", nil)
	same(t, []any{deleted.Count, err}, "[0 <nil>]")
	_, err = session.OpenArtifact(ctx, "a.bin", nil)
	got(t, err, seslite.ErrNotFound)
	_, err = session.SaveArtifact(ctx, "b", strings.NewReader("12345"), &seslite.SaveOptions{Size: 4})
	got(t, err, seslite.ErrInvalid)
	_, err = session.SaveArtifact(ctx, "b", strings.NewReader("12345"), &seslite.SaveOptions{MaxBytes: 4})
	got(t, err, seslite.ErrLimit)
}

func TestAttachmentsComeWithTheirEvent(t *testing.T) {
	store := memory(t)
	session := create(t, store, key, "")
	attachments, err := store.NewAttachments(key)
	must(t, err)
	must(t, attachments.Add(ctx, "chart.png", strings.NewReader("png"), nil))
	must(t, attachments.Offload(4))
	inline := `{"author":"a","invocationId":"i","content":{"parts":[{"inlineData":{"mimeType":"text/plain","data":"aGVsbG8gd29ybGQ="}}]}}`
	_, err = store.Append(ctx, key, event("", ""), nil)
	must(t, err)
	options := &seslite.AppendOptions{Attachments: attachments}
	_, err = session.Append(ctx, []byte(inline), options)
	got(t, err, seslite.ErrStale)
	same(t, names(t, session.Artifacts(ctx)), "[]")
	must(t, session.Refresh(ctx))
	_, err = session.Append(ctx, []byte(inline), options)
	must(t, err)
	same(t, names(t, session.Artifacts(ctx)), "[artifact_i_0 chart.png]")
	same(t, []int64{attachments.Version(0), attachments.Version(9), attachments.Version(-1)}, "[0 -1 -1]")
	last, _ := session.Event(1)
	same(t, strings.Contains(string(last.JSON), `"chart.png":0`) && strings.Contains(string(last.JSON), "fileData"), true)
	messages, err := session.Context(ctx, &seslite.ContextOptions{InlineBytes: 100})
	must(t, err)
	same(t, strings.Contains(string(messages[len(messages)-1].Content), "aGVsbG8gd29ybGQ="), true)
	for bytes, inlined := range map[int64]bool{0: true, 11: true, 10: false} {
		one, err := session.InlineArtifacts(ctx, last.JSON, bytes)
		must(t, err)
		two, err := store.InlineArtifacts(ctx, key, last.JSON, bytes)
		must(t, err)
		same(t, []bool{one != nil, strings.Contains(string(one), "aGVsbG8gd29ybGQ="), string(one) == string(two)},
			[]bool{inlined, inlined, true})
	}
	_, err = store.InlineArtifacts(ctx, key, []byte("{"), 0)
	got(t, err, seslite.ErrJSON)
	must(t, attachments.Close())
	must(t, attachments.Close())
	_, err = session.Append(ctx, event("", ""), options)
	got(t, err, seslite.ErrMisuse)
	got(t, attachments.Offload(1), seslite.ErrMisuse)
	same(t, attachments.Version(0), -1)
}

func TestSearch(t *testing.T) {
	store, _ := openFile(t)
	session := create(t, store, key, "")
	for _, text := range []string{"The train to Paris leaves at noon.", "Der Zug nach München", "a train, again"} {
		_, err := session.Append(ctx, []byte(`{"author":"user","content":{"parts":[{"text":"`+text+`"}]}}`), nil)
		must(t, err)
	}
	for _, indexed := range []bool{false, true} {
		if indexed {
			count, err := store.Index(ctx, &seslite.IndexOptions{Progress: func(_, _ int64) error { return nil }})
			if seslite.CodeOf(err) == seslite.ErrUnsupported {
				t.Skip("for want of FTS5 in this SQLite")
			}
			same(t, []any{count, err}, "[3 <nil>]")
		}
		hits, err := store.Search(ctx, seslite.Key{App: "app"}, "TRAIN", &seslite.SearchOptions{SnippetBytes: 80, Limit: 1})
		must(t, err)
		same(t, []any{len(hits.Hits), hits.Hits[0].Seq, hits.Token != "", hits.Indexed}, []any{1, 3, true, indexed})
		same(t, hits.Hits[0].Snippet[hits.Hits[0].SnippetFound:][:5], "train")
		var seqs []int64
		for hit, err := range store.SearchAll(ctx, key, "paris munchen", &seslite.SearchOptions{Any: true, Limit: 1, Before: time.Now().Add(time.Hour)}) {
			must(t, err)
			seqs = append(seqs, hit.Seq)
		}
		same(t, seqs, "[2 1]")
	}
	_, err := store.Search(ctx, seslite.Key{App: "app"}, "", nil)
	got(t, err, seslite.ErrInvalid)
	for _, err := range store.SearchAll(ctx, seslite.Key{App: "app"}, " ", nil) {
		got(t, err, seslite.ErrInvalid)
	}
	_, err = store.Index(ctx, &seslite.IndexOptions{Drop: true})
	must(t, err)
}
