package fsys

import (
	"io/fs"
	"syscall"
)

// awayAttributes are FILE_ATTRIBUTE_OFFLINE, RECALL_ON_OPEN and RECALL_ON_DATA_ACCESS
// (source: winnt.h).
const awayAttributes = 0x1000 | 0x40000 | 0x400000

func awayBySystem(info fs.FileInfo) bool {
	data, ok := info.Sys().(*syscall.Win32FileAttributeData)
	return ok && data.FileAttributes&awayAttributes != 0
}

// attributesOf is the part of a FileInfo that isAway asks for.
type attributesOf struct {
	fs.FileInfo
	name string
	data syscall.Win32FileAttributeData
}

func (a *attributesOf) Name() string { return a.name }
func (a *attributesOf) Sys() any     { return &a.data }
