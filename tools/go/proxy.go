//go:build ignore

// Writes a module into a folder that GOPROXY=file://FOLDER serves:
//
//	go run tools/go/proxy.go MODULE-FOLDER VERSION PROXY-FOLDER
package main

import (
	"archive/zip"
	"bufio"
	"bytes"
	"fmt"
	"io/fs"
	"log"
	"os"
	"path/filepath"
	"strings"
	"time"
)

func main() {
	log.SetFlags(0)
	if len(os.Args) != 4 {
		log.Fatal("usage: proxy MODULE-FOLDER VERSION PROXY-FOLDER")
	}
	if err := publish(os.Args[1], os.Args[2], os.Args[3]); err != nil {
		log.Fatal(err)
	}
}

func publish(folder, version, proxy string) error {
	mod, err := os.ReadFile(filepath.Join(folder, "go.mod"))
	if err != nil {
		return err
	}
	line, err := bufio.NewReader(bytes.NewReader(mod)).ReadString('\n')
	path, found := strings.CutPrefix(strings.TrimSpace(line), "module ")
	if err != nil || !found {
		return fmt.Errorf("%s: its go.mod does not begin with its path", folder)
	}
	out := filepath.Join(proxy, filepath.FromSlash(path), "@v")
	if err := os.MkdirAll(out, 0o755); err != nil {
		return err
	}
	archive, err := pack(folder, path+"@"+version)
	if err != nil {
		return err
	}
	info := fmt.Sprintf(`{"Version":%q,"Time":%q}`, version, time.Now().UTC().Format(time.RFC3339))
	for name, content := range map[string][]byte{
		"list": []byte(version + "\n"), version + ".info": []byte(info), version + ".mod": mod, version + ".zip": archive,
	} {
		if err := os.WriteFile(filepath.Join(out, name), content, 0o644); err != nil {
			return err
		}
	}
	return nil
}

// pack archives the files of a module, but not those of modules in it.
func pack(folder, prefix string) ([]byte, error) {
	var archive bytes.Buffer
	w := zip.NewWriter(&archive)
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil && path != folder {
				return filepath.SkipDir
			}
			return nil
		}
		relative, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		file, err := w.Create(prefix + "/" + filepath.ToSlash(relative))
		if err == nil {
			_, err = file.Write(content)
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return archive.Bytes(), nil
}
