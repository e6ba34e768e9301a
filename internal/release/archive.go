package main

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/flate"
	"compress/gzip"
	"io"
	"io/fs"
	"slices"
	"strings"
	"time"
)

// An entry is a file of an archive; its name has slashes.
type entry struct {
	name string
	data []byte
	mode fs.FileMode
}

const bestCompression = flate.BestCompression

// pack returns an archive as people on that system expect it: zip for Windows, else
// tar.gz. Every name begins with the prefix.
func pack(system, prefix string, files []entry, at time.Time, level int) ([]byte, error) {
	files = slices.Clone(files)
	for i := range files {
		files[i].name = prefix + files[i].name
	}
	if system == "windows" {
		return packZip(files, at, level)
	}
	return packTar(files, at, level)
}

// packTar returns a tar.gz with sorted names, one time, and root as the owner.
func packTar(files []entry, at time.Time, level int) ([]byte, error) {
	var nodes []node
	for _, e := range sorted(files) {
		nodes = append(nodes, node{name: e.name, data: e.data, mode: int64(e.mode.Perm())})
	}
	plain, err := tarOf(nodes, at)
	if err != nil {
		return nil, err
	}
	return compress(plain, level)
}

// A node is a file in a tar, or a folder if its name ends with a slash.
type node struct {
	name  string
	data  []byte
	mode  int64 // as Unix has it
	owner int   // user and group
}

// tarOf returns a tar with these nodes in this order and one time.
func tarOf(nodes []node, at time.Time) ([]byte, error) {
	var out bytes.Buffer
	w := tar.NewWriter(&out)
	for _, n := range nodes {
		h := &tar.Header{Typeflag: tar.TypeReg, Name: n.name, Size: int64(len(n.data)), Mode: n.mode, Uid: n.owner, Gid: n.owner, ModTime: at, Format: tar.FormatUSTAR}
		if strings.HasSuffix(n.name, "/") {
			h.Typeflag = tar.TypeDir
		}
		if err := w.WriteHeader(h); err != nil {
			return nil, err
		}
		if _, err := w.Write(n.data); err != nil {
			return nil, err
		}
	}
	err := w.Close()
	return out.Bytes(), err
}

// compress returns data as gzip, with neither a name nor a time in its header.
func compress(data []byte, level int) ([]byte, error) {
	var out bytes.Buffer
	w, err := gzip.NewWriterLevel(&out, level)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(data); err != nil {
		return nil, err
	}
	err = w.Close()
	return out.Bytes(), err
}

// packZip returns a zip with sorted names, one time, and the permissions of Unix. A zip
// knows no time before 1980.
func packZip(files []entry, at time.Time, level int) ([]byte, error) {
	if first := time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC); at.Before(first) {
		at = first
	}
	var out bytes.Buffer
	w := zip.NewWriter(&out)
	w.RegisterCompressor(zip.Deflate, func(w io.Writer) (io.WriteCloser, error) { return flate.NewWriter(w, level) })
	for _, e := range sorted(files) {
		h := &zip.FileHeader{Name: e.name, Method: zip.Deflate, Modified: at}
		h.SetMode(e.mode)
		f, err := w.CreateHeader(h)
		if err != nil {
			return nil, err
		}
		if _, err := f.Write(e.data); err != nil {
			return nil, err
		}
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return out.Bytes(), nil
}

func sorted(files []entry) []entry {
	return slices.SortedFunc(slices.Values(files), func(a, b entry) int { return strings.Compare(a.name, b.name) })
}

// unpackZip returns the files of a zip, sorted.
func unpackZip(data []byte) ([]entry, error) {
	r, err := zip.NewReader(bytes.NewReader(data), int64(len(data)))
	if err != nil {
		return nil, err
	}
	var files []entry
	for _, f := range r.File {
		if strings.HasSuffix(f.Name, "/") {
			continue
		}
		in, err := f.Open()
		if err != nil {
			return nil, err
		}
		text, err := io.ReadAll(in)
		in.Close()
		if err != nil {
			return nil, err
		}
		files = append(files, entry{name: f.Name, data: text, mode: f.Mode().Perm()})
	}
	return sorted(files), nil
}
