package lsp

import (
	"net/url"
	"path/filepath"
	"runtime"
	"strings"
)

// uriOf returns the URI of an absolute path.
func uriOf(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // a drive
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

// pathOf returns the path that a file URI names; ok is false for other URIs.
func pathOf(uri string) (path string, ok bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" || !strings.HasPrefix(u.Path, "/") {
		return "", false
	}
	path = u.Path
	if runtime.GOOS == "windows" && len(path) > 2 && path[2] == ':' {
		path = strings.ToUpper(path[1:2]) + path[2:]
	}
	return filepath.Clean(filepath.FromSlash(path)), !strings.Contains(path, "\x00")
}
